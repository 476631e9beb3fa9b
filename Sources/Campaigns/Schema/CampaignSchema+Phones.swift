import Base

/// Parts of a campaign that only phones with systems of their own have.
extension CampaignSchema {
    var activity: JSONValue {
        func group(_ description: String) -> JSONValue {
            .object(pairs: [("type", .string("object")), ("description", .string(description))])
        }
        func time(_ description: String, example: String) -> JSONValue {
            .object(pairs: [
                ("type", SchemaNode.strings(["string", "integer"])), ("description", .string(description)),
                ("examples", SchemaNode.strings([example])),
            ])
        }
        return SchemaNode.object(
            CampaignKeys.activity, "A Live Activity of iPhones; content is its alert.", required: ["event"],
            [
                "event": SchemaNode.choice("What happens to it.", ActivityContent.Event.allCases.map(\.rawValue)),
                "attributes_type": SchemaNode.text(
                    "The app's type of its attributes; for the start.", example: "DeliveryAttributes"),
                "attributes": group("What stays the same; for the start. Texts are templates."),
                "state": group("What it shows. Texts are templates."),
                "stale": time("After how long the state counts as out of date.", example: "30min"),
                "dismiss": time(
                    "After how long an activity that ended leaves the lock screen; 0 for at once.", example: "1h"),
                "relevance": .object(pairs: [
                    ("type", .string("number")), ("description", .string("The one with the highest comes first.")),
                ]),
            ])
    }

    var localized: JSONValue {
        let key = SchemaNode.text("The key of a text in the app.", example: "SALE_TITLE")
        let text = SchemaNode.anyOf(
            "The key of a text in the app, or the key with what takes the places of its variables.",
            [
                key,
                SchemaNode.object(
                    CampaignKeys.localizedText, "A text of the app with variables.", required: ["key"],
                    [
                        "key": key,
                        "args": .object(pairs: [
                            ("type", .string("array")),
                            ("description", .string("What takes the places of its variables. Templates.")),
                            ("items", .object(pairs: [("type", SchemaNode.strings(["string", "number", "boolean"]))])),
                        ]),
                    ]),
            ])
        return SchemaNode.object(
            CampaignKeys.localized,
            "Texts that the app holds in its languages, by their keys, instead of title, subtitle and body.",
            rules: [("minProperties", .integer(1))], ["title": text, "subtitle": text, "body": text])
    }
}
