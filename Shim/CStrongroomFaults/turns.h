// Where another connection can have its turn.

#ifndef turns_h
#define turns_h

/// In front of a lock, of its end, and of what concerns shared memory.
void strongroom_faults_turn(void);

#endif
