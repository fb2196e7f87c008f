import Foundation
import Strongroom
import Testing

@Suite("Inflections")
struct InflectionTests {
    @Test(
        "English plurals and singulars",
        arguments: [
            ("team", "teams"), ("country", "countries"), ("person", "people"), ("address", "addresses"),
            ("status", "statuses"),
            ("news", "news"), ("child", "children"), ("box", "boxes"), ("bookPerson", "bookPeople"), ("day", "days"),
            ("analysis", "analyses"), ("author1", "authors1"), ("index", "indices"), ("mouse", "mice"),
            ("quiz", "quizzes"),
            ("wife", "wives"), ("wolf", "wolves"), ("category", "categories"), ("movie", "movies"), ("foot", "feet"),
            ("human", "humen"), ("lens", "lenses"), ("myLeaf", "myLeaves"), ("database", "databases"),
            ("hero", "heroes"),
            ("process", "processes"), ("latestNews", "latestNews"), ("myMouse", "myMice"),
            ("canvas", "canvases"), ("octopus", "octopi"), ("goose", "gooses"), ("safe", "saves"), ("_12", "_12"),
        ])
    func english(singular: String, plural: String) {
        #expect(Inflections.default.pluralize(singular) == plural)
        #expect(Inflections.default.pluralize(plural) == plural)
        #expect(Inflections.default.singularize(plural) == singular)
        #expect(Inflections.default.singularize(singular) == singular)
    }

    @Test("Rules that are added last come first")
    func customRules() {
        var inflections = Inflections()
        #expect(inflections.pluralize("bureau") == "bureau")
        inflections.plural("$", "s")
        inflections.plural("eau$", "eaux")
        inflections.irregularSuffix("oeil", "yeux")
        inflections.uncountableWords(["gaz"])
        #expect(inflections.pluralize("bureau") == "bureaux")
        #expect(inflections.pluralize("oeil") == "yeux")
        #expect(inflections.singularize("yeux") == "oeil")
        #expect(inflections.pluralize("gaz") == "gaz")
    }
}
