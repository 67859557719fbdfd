/* known.h - read before each file that is analyzed: what an analyzer that sees one file at a time
 * must be told. A failure's function returns the code that it was given; who does not know that
 * sees every caller go on after a failure. */
#include "engine/base/err.h"

#define err_set(err, code, ...) ({ err_set(err, code, __VA_ARGS__); (code); })
#define err_wrap(err, code, ...) ({ err_wrap(err, code, __VA_ARGS__); (code); })
#define err_sys(err, code, ...) ({ err_sys(err, code, __VA_ARGS__); (code); })
