// Where another connection can have its turn.

#ifndef turns_h
#define turns_h

#include <stdbool.h>

/// In front of a lock, of its end, and of what concerns shared memory.
void strongroom_faults_turn(void);

/// Returns true if another connection has its turn on this thread.
bool strongroom_faults_has_turn(void);

#endif
