// A stub: OpenCombine has Combine's interface.
@_exported import OpenCombine
@_exported import OpenCombineDispatch
