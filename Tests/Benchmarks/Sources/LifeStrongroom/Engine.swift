// The engine for the files in Day, which LifeGRDB has too.
@_exported import Strongroom
