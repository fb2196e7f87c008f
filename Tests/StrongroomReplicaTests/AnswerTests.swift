import Testing

@testable import StrongroomReplica

@Suite("An answer of S3")
struct AnswerTests {
    @Test(
        "has its entities decoded, once",
        arguments: [
            ("a&amp;b", "a&b"), ("&lt;&gt;&quot;&apos;", "<>\"'"), ("&#34;x&#39;", "\"x'"), ("&#x22;&#X2f;", "\"/"),
            ("&#128273;", "🔑"), ("&amp;#34;", "&#34;"), ("&#38;lt;", "&lt;"),
            // What is none stays.
            ("&#;&#x;&#xd800;&other;&", "&#;&#x;&#xd800;&other;&"),
        ])
    func entities(text: String, value: String) {
        #expect(S3XML.value("Key", in: Array("<Key>\(text)</Key>".utf8)) == value)
    }
}
