// A stub: the environment, as Apple's libraries give it.
#pragma once
char ***_NSGetEnviron(void);
