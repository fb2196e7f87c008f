// A stub: the C library has the same names, as far as Strongroom uses them.
@_exported import Glibc
