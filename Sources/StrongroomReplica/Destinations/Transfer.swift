import CStrongroomReplica

/// HTTP requests over a connection that is kept. For one thread at a time.
final class Transfer {
    struct Answer {
        var status: Int
        var body: [UInt8]
    }

    private let transfer: OpaquePointer

    init(authorities: String?, timeout: Int) throws {
        guard let transfer = replica_transfer_new(authorities, Int32(timeout)) else {
            throw ReplicaError(.system, nil, "there is no memory for a connection. Close other programs.")
        }
        self.transfer = transfer
    }

    deinit { replica_transfer_free(transfer) }

    /// Returns the answer, or libcurl's message if there was none.
    func send(_ method: String, _ url: String, headers: [String], body: [UInt8]?) -> (answer: Answer?, error: String) {
        let lines = headers.map { strdup($0) }
        defer { for line in lines { free(line) } }
        return lines.map { UnsafePointer($0) }.withUnsafeBufferPointer { lines in
            method.withCString { method in
                url.withCString { url in
                    // An empty body is one, too.
                    (body ?? []).withUnsafeBufferPointer { bytes in
                        var empty: UInt8 = 0
                        return withUnsafePointer(to: &empty) { empty in
                            var request = replica_request()
                            (request.method, request.url) = (method, url)
                            (request.headers, request.header_count) = (lines.baseAddress, lines.count)
                            request.body = body == nil ? nil : bytes.baseAddress ?? empty
                            request.size = bytes.count
                            return perform(&request)
                        }
                    }
                }
            }
        }
    }

    private func perform(_ request: inout replica_request) -> (answer: Answer?, error: String) {
        var response = replica_response()
        guard replica_transfer_send(transfer, &request, &response) else {
            return (nil, response.error.map { String(cString: $0) } ?? "no answer")
        }
        let body = UnsafeBufferPointer(start: response.body, count: response.body == nil ? 0 : response.size)
        return (Answer(status: response.status, body: Array(body)), "")
    }
}
