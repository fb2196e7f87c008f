// What counts as a change of a file.

#ifndef kills_h
#define kills_h

/// Counts a change. Zero, or -1 and an errno where it is to fail.
int strongroom_faults_note_operation(void);

#endif
