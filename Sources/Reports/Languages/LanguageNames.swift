public import Base

/// English names of languages, scripts and regions by their subtags in small letters.
/// Source: CLDR, main/en; the shorter of two names, as tables have little room.
enum LanguageNames {
    /// By the first subtag (ISO 639).
    static let languages = table(
        """
        aa Afar; ab Abkhazian; ae Avestan; af Afrikaans; ak Akan; am Amharic; an Aragonese; ar Arabic; as Assamese; ast Asturian; av Avaric;\
        awa Awadhi; ay Aymara; az Azerbaijani; ba Bashkir; be Belarusian; bg Bulgarian; bho Bhojpuri; bi Bislama; bm Bambara; bn Bangla; bo Tibetan;\
        br Breton; brx Bodo; bs Bosnian; ca Catalan; ce Chechen; ceb Cebuano; ch Chamorro; chr Cherokee; ckb Central Kurdish; co Corsican; cr Cree;\
        cs Czech; cu Church Slavic; cv Chuvash; cy Welsh; da Danish; de German; doi Dogri; dsb Lower Sorbian; dv Divehi; dz Dzongkha; ee Ewe;\
        el Greek; en English; eo Esperanto; es Spanish; et Estonian; eu Basque; fa Persian; ff Fula; fi Finnish; fil Filipino; fj Fijian; fo Faroese;\
        fr French; fy Western Frisian; ga Irish; gd Scottish Gaelic; gl Galician; gn Guarani; gsw Swiss German; gu Gujarati; gv Manx; ha Hausa;\
        haw Hawaiian; he Hebrew; hi Hindi; hmn Hmong; ho Hiri Motu; hr Croatian; hsb Upper Sorbian; ht Haitian Creole; hu Hungarian; hy Armenian;\
        hz Herero; ia Interlingua; id Indonesian; ie Interlingue; ig Igbo; ii Sichuan Yi; ik Inupiaq; io Ido; is Icelandic; it Italian; iu Inuktitut;\
        ja Japanese; jv Javanese; ka Georgian; kg Kongo; ki Kikuyu; kj Kuanyama; kk Kazakh; kl Kalaallisut; km Khmer; kn Kannada; ko Korean;\
        kok Konkani; kr Kanuri; ks Kashmiri; ku Kurdish; kv Komi; kw Cornish; ky Kyrgyz; la Latin; lb Luxembourgish; lg Ganda; li Limburgish;\
        ln Lingala; lo Lao; lt Lithuanian; lu Luba-Katanga; lv Latvian; mai Maithili; mg Malagasy; mh Marshallese; mi Māori; mk Macedonian;\
        ml Malayalam; mn Mongolian; mni Manipuri; mr Marathi; ms Malay; mt Maltese; my Burmese; na Nauru; nb Norwegian Bokmål; nd North Ndebele;\
        nds Low German; ne Nepali; ng Ndonga; nl Dutch; nn Norwegian Nynorsk; no Norwegian; nr South Ndebele; nv Navajo; ny Nyanja; oc Occitan;\
        oj Ojibwa; om Oromo; or Odia; os Ossetic; pa Punjabi; pcm Nigerian Pidgin; pi Pali; pl Polish; ps Pashto; pt Portuguese; qu Quechua;\
        rm Romansh; rn Rundi; ro Romanian; ru Russian; rw Kinyarwanda; sa Sanskrit; sah Yakut; sat Santali; sc Sardinian; scn Sicilian; sd Sindhi;\
        se Northern Sami; sg Sango; sh Serbo-Croatian; si Sinhala; sk Slovak; sl Slovenian; sm Samoan; smn Inari Sami; sn Shona; so Somali;\
        sq Albanian; sr Serbian; ss Swati; st Southern Sotho; su Sundanese; sv Swedish; sw Swahili; szl Silesian; ta Tamil; te Telugu; tg Tajik;\
        th Thai; ti Tigrinya; tk Turkmen; tl Tagalog; tn Tswana; to Tongan; tr Turkish; ts Tsonga; tt Tatar; tw Twi; ty Tahitian; ug Uyghur;\
        uk Ukrainian; ur Urdu; uz Uzbek; ve Venda; vi Vietnamese; vo Volapük; wa Walloon; wo Wolof; xh Xhosa; yi Yiddish; yo Yoruba; yue Cantonese;\
        za Zhuang; zh Chinese; zu Zulu
        """)

    /// ISO 15924, only the scripts that distinguish the forms of a language.
    static let scripts = table(
        """
        adlm Adlam; arab Arabic; beng Bangla; cyrl Cyrillic; deva Devanagari; guru Gurmukhi; hans Simplified; hant Traditional; latn Latin;\
        mong Mongolian; olck Ol Chiki; tfng Tifinagh
        """)

    /// ISO 3166 and UN M.49.
    static let regions = table(
        """
        001 world; 150 Europe; 419 Latin America; ac Ascension Island; ad Andorra; ae United Arab Emirates; af Afghanistan; ag Antigua & Barbuda;\
        ai Anguilla; al Albania; am Armenia; ao Angola; aq Antarctica; ar Argentina; as American Samoa; at Austria; au Australia; aw Aruba;\
        ax Åland Islands; az Azerbaijan; ba Bosnia & Herzegovina; bb Barbados; bd Bangladesh; be Belgium; bf Burkina Faso; bg Bulgaria; bh Bahrain;\
        bi Burundi; bj Benin; bl St. Barthélemy; bm Bermuda; bn Brunei; bo Bolivia; bq Caribbean Netherlands; br Brazil; bs Bahamas; bt Bhutan;\
        bv Bouvet Island; bw Botswana; by Belarus; bz Belize; ca Canada; cc Cocos (Keeling) Islands; cd DR Congo; cf Central African Republic;\
        cg Congo; ch Switzerland; ci Côte d’Ivoire; ck Cook Islands; cl Chile; cm Cameroon; cn China; co Colombia; cp Clipperton Island; cq Sark;\
        cr Costa Rica; cu Cuba; cv Cape Verde; cw Curaçao; cx Christmas Island; cy Cyprus; cz Czechia; de Germany; dg Diego Garcia; dj Djibouti;\
        dk Denmark; dm Dominica; do Dominican Republic; dz Algeria; ea Ceuta & Melilla; ec Ecuador; ee Estonia; eg Egypt; eh Western Sahara;\
        er Eritrea; es Spain; et Ethiopia; fi Finland; fj Fiji; fk Falkland Islands; fm Micronesia; fo Faroe Islands; fr France; ga Gabon;\
        gb United Kingdom; gd Grenada; ge Georgia; gf French Guiana; gg Guernsey; gh Ghana; gi Gibraltar; gl Greenland; gm Gambia; gn Guinea;\
        gp Guadeloupe; gq Equatorial Guinea; gr Greece; gs South Georgia & South Sandwich Islands; gt Guatemala; gu Guam; gw Guinea-Bissau;\
        gy Guyana; hk Hong Kong; hm Heard & McDonald Islands; hn Honduras; hr Croatia; ht Haiti; hu Hungary; ic Canary Islands; id Indonesia;\
        ie Ireland; il Israel; im Isle of Man; in India; io British Indian Ocean Territory; iq Iraq; ir Iran; is Iceland; it Italy; je Jersey;\
        jm Jamaica; jo Jordan; jp Japan; ke Kenya; kg Kyrgyzstan; kh Cambodia; ki Kiribati; km Comoros; kn St. Kitts & Nevis; kp North Korea;\
        kr South Korea; kw Kuwait; ky Cayman Islands; kz Kazakhstan; la Laos; lb Lebanon; lc St. Lucia; li Liechtenstein; lk Sri Lanka; lr Liberia;\
        ls Lesotho; lt Lithuania; lu Luxembourg; lv Latvia; ly Libya; ma Morocco; mc Monaco; md Moldova; me Montenegro; mf St. Martin; mg Madagascar;\
        mh Marshall Islands; mk North Macedonia; ml Mali; mm Myanmar; mn Mongolia; mo Macao; mp Northern Mariana Islands; mq Martinique;\
        mr Mauritania; ms Montserrat; mt Malta; mu Mauritius; mv Maldives; mw Malawi; mx Mexico; my Malaysia; mz Mozambique; na Namibia;\
        nc New Caledonia; ne Niger; nf Norfolk Island; ng Nigeria; ni Nicaragua; nl Netherlands; no Norway; np Nepal; nr Nauru; nu Niue;\
        nz New Zealand; om Oman; pa Panama; pe Peru; pf French Polynesia; pg Papua New Guinea; ph Philippines; pk Pakistan; pl Poland;\
        pm St. Pierre & Miquelon; pn Pitcairn Islands; pr Puerto Rico; ps Palestine; pt Portugal; pw Palau; py Paraguay; qa Qatar; re Réunion;\
        ro Romania; rs Serbia; ru Russia; rw Rwanda; sa Saudi Arabia; sb Solomon Islands; sc Seychelles; sd Sudan; se Sweden; sg Singapore;\
        sh St. Helena; si Slovenia; sj Svalbard & Jan Mayen; sk Slovakia; sl Sierra Leone; sm San Marino; sn Senegal; so Somalia; sr Suriname;\
        ss South Sudan; st São Tomé & Príncipe; sv El Salvador; sx Sint Maarten; sy Syria; sz Eswatini; ta Tristan da Cunha;\
        tc Turks & Caicos Islands; td Chad; tf French Southern Territories; tg Togo; th Thailand; tj Tajikistan; tk Tokelau; tl Timor-Leste;\
        tm Turkmenistan; tn Tunisia; to Tonga; tr Türkiye; tt Trinidad & Tobago; tv Tuvalu; tw Taiwan; tz Tanzania; ua Ukraine; ug Uganda;\
        um U.S. Outlying Islands; us United States; uy Uruguay; uz Uzbekistan; va Vatican City; vc St. Vincent & Grenadines; ve Venezuela;\
        vg British Virgin Islands; vi U.S. Virgin Islands; vn Vietnam; vu Vanuatu; wf Wallis & Futuna; ws Samoa; xk Kosovo; ye Yemen; yt Mayotte;\
        za South Africa; zm Zambia; zw Zimbabwe
        """)

    private static func table(_ text: String) -> [Substring: Substring] {
        let pairs = text.split(separator: ";").map { $0.drop { $0 == " " }.split(separator: " ", maxSplits: 1) }
        return Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], $0[1]) })
    }
}

/// The meaning of a language tag, in English.
///
/// ```swift
/// let name = LanguageName.english("zh-Hant")
/// ```
public enum LanguageName {
    /// `Portuguese (Brazil)` for `pt-BR`; nil when a part of the tag has no name here.
    public static func english(_ tag: String) -> String? {
        guard let normal = LanguageTag.normalized(tag) else { return nil }
        let parts = normal.split(separator: "-")
        // Old codes are found under the new ones (`iw`, `in`).
        let codes = LanguageTag.fallbacks(of: parts[0]).map { $0.prefix { $0 != "-" } }
        guard let language = codes.lazy.compactMap({ LanguageNames.languages[$0] }).first else { return nil }
        var details: [Substring] = []
        for part in parts.dropFirst() {
            guard let name = part.count == 4 ? LanguageNames.scripts[part] : LanguageNames.regions[part] else {
                return nil
            }
            details.append(name)
        }
        return details.isEmpty ? String(language) : "\(language) (\(details.joined(separator: ", ")))"
    }

    /// `Portuguese, Brazil (pt-BR)`, as a form's label has it; the name of `de` for `de-x`, and the
    /// tag alone for a language without a name.
    public static func words(_ tag: String) -> String {
        guard let name = LanguageTag.fallbacks(of: tag).lazy.compactMap(english).first else { return tag }
        return "\(name.replacing(" (", with: ", ").replacing(")", with: "")) (\(tag))"
    }

    /// The name followed by the tag, as a page shows it; only the tag if it has no name.
    public static func html(_ tag: String) -> HTML {
        guard let name = english(tag) else { return "<span dir=\"auto\">\(tag)</span>" }
        return "\(name) <span class=\"code\">\(tag)</span>"
    }
}
