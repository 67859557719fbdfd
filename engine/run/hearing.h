/* hearing.h - which listeners hear what an answer emits, and the event that the engine emits itself
 * when a delivery has failed for good. The settle that writes an event files its deliveries. */
#ifndef PRESCIENT_HEARING_H
#define PRESCIENT_HEARING_H

#include <stdbool.h>
#include "../base/arena.h"
#include "../base/settings.h"
#include "../rules/check.h"

/* To a settlement that is otherwise complete. Its effects become a copy of them in the arena, where
 * that is needed. Deliveries make no deliveries: what their jobs emit is written, and nobody hears
 * it. `is_note_good`: the note may stand in the data of an event. False: out of memory; the
 * settlement is as before. */
bool hearing_add(const struct settings *settings, struct arena *arena, bool is_note_good,
                 struct settlement *s);

#endif
