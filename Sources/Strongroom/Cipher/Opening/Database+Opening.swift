extension Database {
    /// Makes the connection ready for use. Encryption comes first, because nothing can be read before.
    func setUp() throws {
        try setUpConnection()
        defer { formatControl.releaseDefaults() }
        try keySetup.setUpEncryption()
        do {
            try explainingFailures {
                for setup in configuration.setups { try setup(self) }
                try untraced { try keySetup.verifyEncryption() }
            }
        } catch {
            // Another connection may have created the database meanwhile.
            keySetup.endCreation()
            throw error
        }
    }
}
