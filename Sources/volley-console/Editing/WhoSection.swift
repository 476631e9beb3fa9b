import Base
import Campaigns
import PushServices

/// Which devices get a campaign: a choice that a person makes, its tags or lists, conditions, and
/// devices that are left out.
enum WhoSection: ComposerSection {
    static let title = "Who"

    /// What chooses the devices.
    private enum Choice: String, CaseIterable {
        case everyone, tags, list, conditions
        /// More than one of them, which a campaign takes together. It is offered where the source
        /// says so.
        case several

        var words: HTML {
            switch self {
            case .everyone: "Everyone, every device of the export"
            case .tags: "Devices with tags"
            case .list: "A list of customers or devices"
            case .conditions: "Devices that meet conditions, whatever their tags"
            case .several: "Tags and lists together: devices that any of them names"
            }
        }

        /// What a source says; nil for nothing.
        init?(_ edit: YAMLEdit) {
            let keys = edit.keys(at: ["audience"]), hasTags = keys.contains("tags")
            let hasList = keys.contains { WhoSection.lists.map(\.key).contains($0) }
            switch (hasTags, hasList) {
            case (true, true): self = .several
            case (true, false): self = .tags
            case (false, true): self = .list
            case (false, false):
                // Where it is false or blank, saving another field must not make it true.
                guard case .truth(true)? = try? edit.value(at: WhoSection.everyone.path) else { return nil }
                self = edit.keys(at: ConditionsControl.path).isEmpty ? .everyone : .conditions
            }
        }
    }

    private static let choice = "audience.choice"
    private static let everyone = CampaignForm.Field(path: ["audience", "everyone"], label: "Who gets it", kind: .box)
    private static let lists = [
        (
            key: "aliases", noun: "aliases", label: "Aliases",
            hint: "The names under which your systems know customers, one in a line."
        ),
        (
            key: "registration_ids", noun: "registration ids", label: "Registration ids",
            hint: "Single devices, one in a line."
        ),
    ]

    // MARK: - Fields

    private static func tagFields(in edit: YAMLEdit) -> (
        any: CampaignForm.Field, all: CampaignForm.Field, others: [CampaignForm.Field]
    ) {
        let path = TagsControl.path, keys = edit.keys(at: path)
        let none = CampaignForm.Field(path: path + ["none"], label: "None of these tags", kind: .tags)
        let file = CampaignForm.Field(
            path: path + ["file"], label: "Tags from a file", kind: .line, hint: "A file with a tag in each line.")
        return (
            .init(
                path: keys.isEmpty ? path : path + ["any"], label: "At least one of these tags", kind: .tags,
                isAlternative: edit.keys(at: path + ["any"]).isEmpty),
            .init(
                path: path + ["all"], label: "All of these tags", kind: .tags,
                hint: "A device needs each of them, and one of those above if there are any.",
                isAlternative: edit.keys(at: path + ["all"]).isEmpty),
            (keys.contains("none") ? [none] : []) + (keys.contains("file") ? [file] : [])
        )
    }

    private static func listFields(_ list: (key: String, noun: String, label: String, hint: String)) -> (
        names: CampaignForm.Field, file: CampaignForm.Field
    ) {
        (
            .init(path: ["audience", list.key], label: list.label, kind: .list, hint: list.hint, isAlternative: true),
            .init(
                path: ["audience", list.key, "file"], label: "Or \(list.noun) from a file", kind: .line,
                hint: "A file of the people who run Volley, with one in each line.", isAlternative: true)
        )
    }

    private static let exclusions: [CampaignForm.Field] = [
        .init(path: ["audience", "exclude", "tags"], label: "Not to devices with these tags", kind: .tags),
        .init(
            path: ["audience", "exclude", "aliases"], label: "Not to these aliases", kind: .list, hint: "One in a line."
        ),
        .init(
            path: ["audience", "exclude", "registration_ids"], label: "Not to these registration ids", kind: .list,
            hint: "One in a line."),
        .init(
            path: ["audience", "exclude", "devices"], label: "Not to the devices of these files", kind: .list,
            hint: "One file in a line, with tokens or registration ids."),
    ]

    /// Written as they are.
    private static func plain(in edit: YAMLEdit) -> [CampaignForm.Field] {
        let by = CampaignForm.Field(
            path: ["audience", "by"], label: "Devices are chosen by",
            kind: .oneOf(
                [("", "Volley, in the exports")] + PushServices.keepingAudiences.map { ($0.name, $0.displayName) }))
        return tagFields(in: edit).others + exclusions + [
            .init(
                path: ["audience", "devices"], label: "Device exports", kind: .list,
                hint: "One file in a line; blank for that of the app."),
            .init(
                path: ["audience", "alias_limit"], label: "Devices of one alias, at most", kind: .number,
                hint: "The most recently active ones; 10 if this is blank."),
        ] + (edit.keys(at: ["audience"]).contains("by") ? [by] : [])
    }

    static func fields(in edit: YAMLEdit) -> [CampaignForm.Field] {
        let tags = tagFields(in: edit),
            files = lists.map { listFields($0).file }.filter { edit.keys(at: $0.path.dropLast()).contains("file") }
        let names = lists.map { listFields($0).names }.filter { edit.keys(at: $0.path).isEmpty }
        return [everyone, tags.any, tags.all] + names + files + ConditionsControl.fields(in: edit) + plain(in: edit)
    }

    /// What is filled in when the exports are counted, by its places.
    static func pieces(_ known: KnownTags, _ edit: YAMLEdit) -> [(place: String, content: HTML)] {
        let tags = tagFields(in: edit)
        return ([tags.any, tags.all] + tags.others + exclusions).filter(\.isOfTags).flatMap { field in
            let held = CampaignForm.text(of: (try? edit.value(at: field.path)) ?? nil)
            return TagsControl.pieces(field.name, known, present: TagsControl.list(held))
        } + [("where-lists", ConditionsControl.lists(known.facts))]
    }

    // MARK: - The page

    static func html(_ context: ComposerContext) -> HTML {
        let edit = context.edit, tags = tagFields(in: edit)
        let held = Choice(edit)
        let chosen = context.trial.typed[choice].flatMap(Choice.init) ?? held
        let radios: [HTML] = Choice.allCases.filter { $0 != .several || held == .several }.map { option in
            GroupInput.radio(option.words, name: choice, value: option.rawValue, isChecked: option == chosen)
        }
        let kind = ShownValue(field: everyone, present: "", text: "", mistake: context.mistake(of: everyone))
        // Files are on the server: only a campaign that names one already has a field for it.
        let listed: [HTML] = lists.map(listFields).flatMap { fields in
            let isThere =
                edit.keys(at: fields.names.path).contains("file") || context.trial.typed[fields.file.name] != nil
            return [fields.names] + (isThere ? [fields.file] : [])
        }.map(context.control)
        let plain = plain(in: edit)
        let left: [HTML] = exclusions.map(context.control)
        let rest = plain.filter { field in
            !exclusions.contains { $0.name == field.name } && !tags.others.contains { $0.name == field.name }
        }
        return """
            <div class="who">\(kind.group(HTML(radios)))
            \(TagsControl.waiting(context.tags, (context.address, context.live)))
            <div class="by-tags">\(context.control(tags.any))\(context.control(tags.all))\(HTML(joined: tags.others.map(context.control)))</div>
            <div class="by-list">\(listed)</div>
            \(ConditionsControl.html(context))
            \(left[0])
            \(RunsControl.html(context))
            <details\(hasMore(context) ? " open" : "" as HTML)><summary>More that get nothing, exports and services</summary>
            \(Array(left.dropFirst()))\(HTML(joined: rest.map(context.control)))\(services(context))</details></div>
            """
    }

    /// Whether a folded field holds something, or has a mistake.
    private static func hasMore(_ context: ComposerContext) -> Bool {
        exclusions.dropFirst().contains { context.value(of: $0).map { !$0.text.isEmpty } ?? true }
            || plain(in: context.edit).contains { !context.mistake(of: $0).markup.isEmpty }
    }

    /// Which services reach the devices, where an app has several.
    private static func services(_ context: ComposerContext) -> HTML {
        guard let app = (try? context.site.project())?.app(named: context.item.app ?? ""), app.services.count > 1 else {
            return ""
        }
        let names = app.services.map(\.service.displayName)
        let list = names.dropLast().joined(separator: ", ") + " and " + (names.last ?? "")
        let column: HTML =
            app.columns.service.map {
                " The column <b dir=\"auto\">\($0.column.value)</b> says which; a condition on it chooses among them."
            } ?? ""
        return "<p class=\"note\">This app reaches devices through \(list).\(column)</p>"
    }

    // MARK: - What was chosen

    static func apply(_ form: [String: String], to edit: inout YAMLEdit) -> [String: Mistake] {
        let page = edit
        var mistakes = CampaignForm.apply(form, to: &edit, plain(in: edit))
        mistakes.merge(RunsControl.apply(form, to: &edit, of: page)) { first, _ in first }
        mistakes.merge(ConditionsControl.apply(form, to: &edit)) { first, _ in first }
        guard mistakes.isEmpty else { return mistakes }
        // What cannot be written as a whole is not written at all.
        var chosen = edit
        do throws(Mistake) {
            try choose(form, &chosen)
            edit = chosen
        } catch { mistakes[everyone.name] = error }
        return mistakes
    }

    /// Writes what chooses the devices, and removes what no longer does.
    private static func choose(_ form: [String: String], _ edit: inout YAMLEdit) throws(Mistake) {
        let isInForm = form[choice] != nil || TagsControl.isInForm(tagFields(in: edit).any.name, form)
        guard let chosen = form[choice].flatMap(Choice.init) ?? Choice(edit) else {
            // A broadcast chooses no devices: phones follow its channel.
            guard isInForm, !edit.keys(at: ["audience"]).contains("channel") else { return }
            throw Mistake(
                "it is not chosen which devices get it",
                remedy: "Choose tags, a list or conditions; or Everyone, if every device is meant."
            )
        }
        let hasConditions = !edit.keys(at: ConditionsControl.path).isEmpty
        switch chosen {
        case .everyone, .conditions:
            guard form[choice] != nil else { return }
            if chosen == .everyone, hasConditions {
                throw Mistake(
                    "everyone is chosen, and there are conditions",
                    remedy: "Choose “Devices that meet conditions”, or clear the conditions.")
            }
            if chosen == .conditions, !hasConditions {
                throw Mistake(
                    "no condition is filled in",
                    remedy: "Fill one in below; or, if every device is meant, choose Everyone.")
            }
            try edit.set(.truth(true), at: everyone.path)
            try remove(["tags", "channel"] + lists.map(\.key), from: &edit)
        case .tags:
            try writeTags(form, &edit)
            guard edit.keys(at: ["audience"]).contains("tags"), !isBlank(TagsControl.path, edit) else {
                throw Mistake(
                    "no tag is chosen, and everyone is not",
                    remedy: "Choose a tag; or, if every device is meant, choose Everyone.")
            }
            if form[choice] != nil { try remove(["everyone", "channel"] + lists.map(\.key), from: &edit) }
        case .list:
            try writeLists(form, &edit)
            guard
                lists.contains(where: {
                    edit.keys(at: ["audience"]).contains($0.key) && !isBlank(["audience", $0.key], edit)
                })
            else {
                throw Mistake(
                    "the list is blank", remedy: "Write aliases or registration ids.")
            }
            if form[choice] != nil { try remove(["everyone", "tags", "channel"], from: &edit) }
        case .several:
            try writeTags(form, &edit)
            try writeLists(form, &edit)
        }
    }

    private static func isBlank(_ path: [String], _ edit: YAMLEdit) -> Bool {
        let keys = edit.keys(at: path)
        guard keys.isEmpty else { return keys.allSatisfy { $0 == "none" || isBlank(path + [$0], edit) } }
        return ((try? edit.value(at: path)).map { CampaignForm.text(of: $0).isEmpty }) ?? false
    }

    /// Tags that a device must not have are left out instead, where no tag chooses devices any
    /// more.
    private static func remove(_ keys: [String], from edit: inout YAMLEdit) throws(Mistake) {
        let present = edit.keys(at: ["audience"])
        for key in keys where present.contains(key) {
            let none = ["audience", key, "none"]
            if key == "tags", edit.keys(at: ["audience", key]).contains("none") {
                let names = TagsControl.list(CampaignForm.text(of: try edit.value(at: none)))
                let left = exclusions[0].path, held = TagsControl.list(CampaignForm.text(of: try edit.value(at: left)))
                try edit.set(.list(held + names.filter { !held.contains($0) }), at: left)
            }
            try edit.set(nil, at: ["audience", key])
        }
    }

    private static func writeTags(_ form: [String: String], _ edit: inout YAMLEdit) throws(Mistake) {
        let fields = tagFields(in: edit), path = TagsControl.path
        func changed(_ field: CampaignForm.Field) -> [String]? {
            let held = CampaignForm.inPage(CampaignForm.text(of: (try? edit.value(at: field.path)) ?? nil), for: field)
            guard let text = TagsControl.text(field.name, form, shown: held), text != held else { return nil }
            return TagsControl.list(text)
        }
        let any = changed(fields.any), all = changed(fields.all)
        var anyPath = fields.any.path
        if let all, !all.isEmpty {
            if anyPath == path, edit.keys(at: ["audience"]).contains("tags") {
                try edit.wrap(path, under: "any")
                anyPath = path + ["any"]
            }
            try edit.set(.list(all), at: fields.all.path)
        }
        if let any {
            // What is blank now may be all that a group has, so what replaces it is written before.
            if any.isEmpty {
                guard edit.keys(at: path).contains("all") else {
                    throw Mistake(
                        "no tag is chosen, and everyone is not",
                        remedy: "Choose a tag; or, if every device is meant, choose Everyone.")
                }
                try edit.set(nil, at: anyPath)
            } else {
                let wasOne = if case .text? = try edit.value(at: anyPath) { true } else { false }
                try edit.set(any.count == 1 && wasOne ? .text(any[0]) : .list(any), at: anyPath)
            }
        }
        if let all, all.isEmpty {
            guard edit.keys(at: path).contains("any") else {
                throw Mistake(
                    "no tag is chosen, and everyone is not",
                    remedy: "Choose a tag; or, if every device is meant, choose Everyone.")
            }
            try edit.set(nil, at: fields.all.path)
        }
    }

    private static func writeLists(_ form: [String: String], _ edit: inout YAMLEdit) throws(Mistake) {
        for list in lists {
            let fields = listFields(list)
            func held(_ field: CampaignForm.Field) -> String {
                let isThere =
                    field.path.count == 2
                    ? edit.keys(at: field.path).isEmpty : !edit.keys(at: fields.names.path).isEmpty
                return isThere ? CampaignForm.text(of: (try? edit.value(at: field.path)) ?? nil) : ""
            }
            func typed(_ field: CampaignForm.Field) -> String { (form[field.name] ?? held(field)).trimming }
            let names = typed(fields.names), file = typed(fields.file)
            guard names != held(fields.names) || file != held(fields.file) else { continue }
            guard names.isEmpty || file.isEmpty else {
                throw Mistake("there are both \(list.noun) and a file of them", remedy: "Keep one of the two.")
            }
            let hasFile = !edit.keys(at: fields.names.path).isEmpty
            if !file.isEmpty {
                try replace(fields.names.path, if: !hasFile, with: .text(file), at: fields.file.path, &edit)
            } else if !names.isEmpty {
                try replace(
                    fields.names.path, if: hasFile, with: .list(TagsControl.list(names)), at: fields.names.path, &edit)
            } else if edit.keys(at: ["audience"]).count > 1 {
                try edit.set(nil, at: fields.names.path)
            } else {
                throw Mistake(
                    "the list is blank", remedy: "Write aliases or registration ids.")
            }
        }
    }

    /// A value of another form is removed first. As a group that has no key left would go too, it
    /// keeps one until the new value is there.
    private static func replace(
        _ old: [String], if isOther: Bool, with value: YAMLEdit.Value, at path: [String], _ edit: inout YAMLEdit
    ) throws(Mistake) {
        guard isOther, edit.keys(at: ["audience"]).contains(old[1]) else { return try edit.set(value, at: path) }
        let isOnly = edit.keys(at: ["audience"]).count == 1
        if isOnly { try edit.set(.truth(true), at: everyone.path) }
        try edit.set(nil, at: old)
        try edit.set(value, at: path)
        if isOnly { try edit.set(nil, at: everyone.path) }
    }
}
