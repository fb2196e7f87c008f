// What counts as a change of a file.

#ifndef kills_h
#define kills_h

void strongroom_faults_note_operation(void);

#endif
