/* launch.h - from a command line to a command of `command_table`; all of a program's main() that is
 * not a worker's. */
#ifndef PRESCIENT_LAUNCH_H
#define PRESCIENT_LAUNCH_H

/* Reads the options, loads the settings and runs the command. Returns the exit code of the
 * program. */
int launch_main(int argc, char **argv);

#endif
