// Made by Tests/Fixtures/make_languages.py from CLDR 47 (Babel 2.18.0); do not edit.

/// What is known of languages: eleven lines each, as `LanguageDataReader` reads them.
/// Source: Unicode CLDR, copyright Unicode, Inc., under the Unicode License v3.
enum LanguageData {
    /// The release of CLDR.
    static let cldrVersion = "47"

    /// Tags that are found under another name.
    static let aliases: StaticString = """
        mn-Mong=mn sr-Cyrl=sr zh-Hans=zh en-150=en-001 en-AG=en-001 en-AI=en-001 en-BB=en-001 en-BM=en-001 en-BS=en-001 en-CC=en-001
        en-CK=en-001 en-CM=en-001 en-CX=en-001 en-CY=en-001 en-DG=en-001 en-DM=en-001 en-ER=en-001 en-FJ=en-001 en-FK=en-001
        en-FM=en-001 en-GD=en-001 en-GG=en-001 en-GH=en-001 en-GI=en-001 en-GM=en-001 en-GS=en-001 en-GY=en-001 en-IL=en-001
        en-IM=en-001 en-IO=en-001 en-JE=en-001 en-KE=en-001 en-KI=en-001 en-KN=en-001 en-KY=en-001 en-LC=en-001 en-LR=en-001
        en-LS=en-001 en-MG=en-001 en-MO=en-001 en-MS=en-001 en-MU=en-001 en-MW=en-001 en-MY=en-001 en-NA=en-001 en-NF=en-001
        en-NG=en-001 en-NR=en-001 en-NU=en-001 en-NZ=en-001 en-PG=en-001 en-PN=en-001 en-PW=en-001 en-RW=en-001 en-SB=en-001
        en-SC=en-001 en-SD=en-001 en-SH=en-001 en-SL=en-001 en-SS=en-001 en-SX=en-001 en-SZ=en-001 en-TC=en-001 en-TK=en-001
        en-TO=en-001 en-TT=en-001 en-TV=en-001 en-TZ=en-001 en-UG=en-001 en-VC=en-001 en-VG=en-001 en-VU=en-001 en-WS=en-001
        en-ZM=en-001 es-BR=es-419 es-BZ=es-419 es-CU=es-419 pt-CH=pt-PT pt-CV=pt-PT pt-GQ=pt-PT pt-GW=pt-PT pt-LU=pt-PT pt-MO=pt-PT
        pt-MZ=pt-PT pt-ST=pt-PT pt-TL=pt-PT kk-CN=kk-Arab-CN pa-PK=pa-Arab-PK sr-ME=sr-Latn-ME uz-AF=uz-Arab-AF zh-HK=zh-Hant-HK
        zh-Hant-MO=zh-Hant-HK zh-MO=zh-Hant-HK zh-TW=zh-Hant yue=zh-Hant-HK no=nb tl=fil iw=he in=id sh=sr-Latn mo=ro
        """

    // swift-format-ignore
    static let text: StaticString = """
        af|0|,| |-|3|3|1|0|n.C.
        y-MM-dd|dd MMM y|dd MMMM y|EEEE dd MMMM y
        Januarie|Februarie|Maart|April|Mei|Junie|Julie|Augustus|September|Oktober|November|Desember

        Jan.|Feb.|Mrt.|Apr.|Mei|Jun.|Jul.|Aug.|Sep.|Okt.|Nov.|Des.

        Sondag|Maandag|Dinsdag|Woensdag|Donderdag|Vrydag|Saterdag

        So.|Ma.|Di.|Wo.|Do.|Vr.|Sa.

        vm.|nm.
        am|1|.|,|-|3|3|1|0|ዓ/ም
        dd/MM/y|d MMM y|d MMMM y|EEEE d MMMM y
        ጃንዋሪ|ፌብሩዋሪ|ማርች|ኤፕሪል|ሜይ|ጁን|ጁላይ|ኦገስት|ሴፕቴምበር|ኦክቶበር|ኖቬምበር|ዲሴምበር

        ጃን|ፌብ|ማርች|ኤፕሪ|ሜይ|ጁን|ጁላይ|ኦገስ|ሴፕቴ|ኦክቶ|ኖቬም|ዲሴም

        እሑድ|ሰኞ|ማክሰኞ|ረቡዕ|ሐሙስ|ዓርብ|ቅዳሜ

        እሑድ|ሰኞ|ማክሰ|ረቡዕ|ሐሙስ|ዓርብ|ቅዳሜ

        ጥዋት|ከሰዓት
        ar|2|.|,|‎-|3|3|1|0|م
        d‏/M‏/y|dd‏/MM‏/y|d MMMM y|EEEE، d MMMM y
        يناير|فبراير|مارس|أبريل|مايو|يونيو|يوليو|أغسطس|سبتمبر|أكتوبر|نوفمبر|ديسمبر

        يناير|فبراير|مارس|أبريل|مايو|يونيو|يوليو|أغسطس|سبتمبر|أكتوبر|نوفمبر|ديسمبر

        الأحد|الاثنين|الثلاثاء|الأربعاء|الخميس|الجمعة|السبت

        الأحد|الاثنين|الثلاثاء|الأربعاء|الخميس|الجمعة|السبت

        ص|م
        ar-EG|2|٫|٬|؜-|3|3|1|٠|م
        d‏/M‏/y|dd‏/MM‏/y|d MMMM y|EEEE، d MMMM y
        يناير|فبراير|مارس|أبريل|مايو|يونيو|يوليو|أغسطس|سبتمبر|أكتوبر|نوفمبر|ديسمبر

        يناير|فبراير|مارس|أبريل|مايو|يونيو|يوليو|أغسطس|سبتمبر|أكتوبر|نوفمبر|ديسمبر

        الأحد|الاثنين|الثلاثاء|الأربعاء|الخميس|الجمعة|السبت

        الأحد|الاثنين|الثلاثاء|الأربعاء|الخميس|الجمعة|السبت

        ص|م
        az|0|,|.|-|3|3|1|0|y.e.
        dd.MM.yy|d MMM y|d MMMM y|d MMMM y, EEEE
        yanvar|fevral|mart|aprel|may|iyun|iyul|avqust|sentyabr|oktyabr|noyabr|dekabr

        yan|fev|mar|apr|may|iyn|iyl|avq|sen|okt|noy|dek

        bazar|bazar ertəsi|çərşənbə axşamı|çərşənbə|cümə axşamı|cümə|şənbə

        B.|B.e.|Ç.a.|Ç.|C.a.|C.|Ş.
        B.|B.E.|Ç.A.|Ç.|C.A.|C.|Ş.
        AM|PM
        be|3|,| |-|3|3|2|0|н.э.
        d.MM.yy|d MMM y 'г'.|d MMMM y 'г'.|EEEE, d MMMM y 'г'.
        студзеня|лютага|сакавіка|красавіка|мая|чэрвеня|ліпеня|жніўня|верасня|кастрычніка|лістапада|снежня
        студзень|люты|сакавік|красавік|май|чэрвень|ліпень|жнівень|верасень|кастрычнік|лістапад|снежань
        сту|лют|сак|кра|мая|чэр|ліп|жні|вер|кас|ліс|сне
        сту|лют|сак|кра|май|чэр|ліп|жні|вер|кас|ліс|сне
        нядзеля|панядзелак|аўторак|серада|чацвер|пятніца|субота

        нд|пн|аў|ср|чц|пт|сб

        AM|PM
        bg|0|,| |-|3|3|2|0|сл.Хр.
        d.MM.yy 'г'.|d.MM.y 'г'.|d MMMM y 'г'.|EEEE, d MMMM y 'г'.
        януари|февруари|март|април|май|юни|юли|август|септември|октомври|ноември|декември

        яну|фев|март|апр|май|юни|юли|авг|сеп|окт|ное|дек

        неделя|понеделник|вторник|сряда|четвъртък|петък|събота

        нд|пн|вт|ср|чт|пт|сб

        am|pm
        bn|1|.|,|-|3|2|1|০|খৃষ্টাব্দ
        d/M/yy|d MMM, y|d MMMM, y|EEEE, d MMMM, y
        জানুয়ারী|ফেব্রুয়ারী|মার্চ|এপ্রিল|মে|জুন|জুলাই|আগস্ট|সেপ্টেম্বর|অক্টোবর|নভেম্বর|ডিসেম্বর

        জানু|ফেব|মার্চ|এপ্রি|মে|জুন|জুল|আগ|সেপ|অক্টো|নভে|ডিসে
        জানু|ফেব|মার্চ|এপ্রিল|মে|জুন|জুলাই|আগস্ট|সেপ্টেম্বর|অক্টোবর|নভেম্বর|ডিসেম্বর
        রবিবার|সোমবার|মঙ্গলবার|বুধবার|বৃহস্পতিবার|শুক্রবার|শনিবার

        রবি|সোম|মঙ্গল|বুধ|বৃহস্পতি|শুক্র|শনি

        AM|PM
        bs|4|,|.|-|3|3|1|0|n. e.
        d. M. y.|d. MMM y.|d. MMMM y.|EEEE, d. MMMM y.
        januar|februar|mart|april|maj|juni|juli|august|septembar|oktobar|novembar|decembar

        jan|feb|mar|apr|maj|jun|jul|aug|sep|okt|nov|dec

        nedjelja|ponedjeljak|utorak|srijeda|četvrtak|petak|subota

        ned|pon|uto|sri|čet|pet|sub

        a. m.|p. m.
        ca|5|,|.|-|3|3|1|0|dC
        d/M/yy|d MMM y|d MMMM 'del' y|EEEE, d MMMM 'del' y
        de gener|de febrer|de març|d’abril|de maig|de juny|de juliol|d’agost|de setembre|d’octubre|de novembre|de desembre
        gener|febrer|març|abril|maig|juny|juliol|agost|setembre|octubre|novembre|desembre
        de gen.|de febr.|de març|d’abr.|de maig|de juny|de jul.|d’ag.|de set.|d’oct.|de nov.|de des.
        gen.|febr.|març|abr.|maig|juny|jul.|ag.|set.|oct.|nov.|des.
        diumenge|dilluns|dimarts|dimecres|dijous|divendres|dissabte

        dg.|dl.|dt.|dc.|dj.|dv.|ds.

        a. m.|p. m.
        cs|6|,| |-|3|3|1|0|n. l.
        dd.MM.yy|d. M. y|d. MMMM y|EEEE d. MMMM y
        ledna|února|března|dubna|května|června|července|srpna|září|října|listopadu|prosince
        leden|únor|březen|duben|květen|červen|červenec|srpen|září|říjen|listopad|prosinec
        led|úno|bře|dub|kvě|čvn|čvc|srp|zář|říj|lis|pro

        neděle|pondělí|úterý|středa|čtvrtek|pátek|sobota

        ne|po|út|st|čt|pá|so

        dop.|odp.
        cy|7|.|,|-|3|3|1|0|OC
        dd/MM/yy|d MMM y|d MMMM y|EEEE, d MMMM y
        Ionawr|Chwefror|Mawrth|Ebrill|Mai|Mehefin|Gorffennaf|Awst|Medi|Hydref|Tachwedd|Rhagfyr

        Ion|Chwef|Maw|Ebr|Mai|Meh|Gorff|Awst|Medi|Hyd|Tach|Rhag
        Ion|Chw|Maw|Ebr|Mai|Meh|Gor|Awst|Medi|Hyd|Tach|Rhag
        Dydd Sul|Dydd Llun|Dydd Mawrth|Dydd Mercher|Dydd Iau|Dydd Gwener|Dydd Sadwrn

        Sul|Llun|Maw|Mer|Iau|Gwen|Sad
        Sul|Llun|Maw|Mer|Iau|Gwe|Sad
        AM|PM
        da|8|,|.|-|3|3|1|0|e.Kr.
        dd.MM.y|d. MMM y|d. MMMM y|EEEE 'den' d. MMMM y
        januar|februar|marts|april|maj|juni|juli|august|september|oktober|november|december

        jan.|feb.|mar.|apr.|maj|jun.|jul.|aug.|sep.|okt.|nov.|dec.

        søndag|mandag|tirsdag|onsdag|torsdag|fredag|lørdag

        søn.|man.|tirs.|ons.|tors.|fre.|lør.

        AM|PM
        de|9|,|.|-|3|3|1|0|n. Chr.
        dd.MM.yy|dd.MM.y|d. MMMM y|EEEE, d. MMMM y
        Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember

        Jan.|Feb.|März|Apr.|Mai|Juni|Juli|Aug.|Sept.|Okt.|Nov.|Dez.
        Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez
        Sonntag|Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag

        So.|Mo.|Di.|Mi.|Do.|Fr.|Sa.
        So|Mo|Di|Mi|Do|Fr|Sa
        AM|PM
        de-AT|9|,|.|-|3|3|1|0|n. Chr.
        dd.MM.yy|dd.MM.y|d. MMMM y|EEEE, d. MMMM y
        Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember

        Jän.|Feb.|März|Apr.|Mai|Juni|Juli|Aug.|Sep.|Okt.|Nov.|Dez.
        Jän|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez
        Sonntag|Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag

        So.|Mo.|Di.|Mi.|Do.|Fr.|Sa.
        So|Mo|Di|Mi|Do|Fr|Sa
        AM|PM
        de-CH|9|.|’|-|3|3|1|0|n. Chr.
        dd.MM.yy|dd.MM.y|d. MMMM y|EEEE, d. MMMM y
        Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember

        Jan.|Feb.|März|Apr.|Mai|Juni|Juli|Aug.|Sept.|Okt.|Nov.|Dez.
        Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez
        Sonntag|Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag

        So.|Mo.|Di.|Mi.|Do.|Fr.|Sa.
        So|Mo|Di|Mi|Do|Fr|Sa
        AM|PM
        el|0|,|.|-|3|3|1|0|μ.Χ.
        d/M/yy|d MMM y|d MMMM y|EEEE d MMMM y
        Ιανουαρίου|Φεβρουαρίου|Μαρτίου|Απριλίου|Μαΐου|Ιουνίου|Ιουλίου|Αυγούστου|Σεπτεμβρίου|Οκτωβρίου|Νοεμβρίου|Δεκεμβρίου
        Ιανουάριος|Φεβρουάριος|Μάρτιος|Απρίλιος|Μάιος|Ιούνιος|Ιούλιος|Αύγουστος|Σεπτέμβριος|Οκτώβριος|Νοέμβριος|Δεκέμβριος
        Ιαν|Φεβ|Μαρ|Απρ|Μαΐ|Ιουν|Ιουλ|Αυγ|Σεπ|Οκτ|Νοε|Δεκ
        Ιαν|Φεβ|Μάρ|Απρ|Μάι|Ιούν|Ιούλ|Αύγ|Σεπ|Οκτ|Νοέ|Δεκ
        Κυριακή|Δευτέρα|Τρίτη|Τετάρτη|Πέμπτη|Παρασκευή|Σάββατο

        Κυρ|Δευ|Τρί|Τετ|Πέμ|Παρ|Σάβ

        π.μ.|μ.μ.
        en|9|.|,|-|3|3|1|0|AD
        M/d/yy|MMM d, y|MMMM d, y|EEEE, MMMM d, y
        January|February|March|April|May|June|July|August|September|October|November|December

        Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec

        Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday

        Sun|Mon|Tue|Wed|Thu|Fri|Sat

        AM|PM
        en-001|9|.|,|-|3|3|1|0|AD
        dd/MM/y|d MMM y|d MMMM y|EEEE, d MMMM y
        January|February|March|April|May|June|July|August|September|October|November|December

        Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept|Oct|Nov|Dec

        Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday

        Sun|Mon|Tue|Wed|Thu|Fri|Sat

        am|pm
        en-AU|9|.|,|-|3|3|1|0|AD
        d/M/yy|d MMM y|d MMMM y|EEEE, d MMMM y
        January|February|March|April|May|June|July|August|September|October|November|December

        Jan|Feb|Mar|Apr|May|June|July|Aug|Sept|Oct|Nov|Dec

        Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday

        Sun|Mon|Tue|Wed|Thu|Fri|Sat

        am|pm
        en-CA|9|.|,|-|3|3|1|0|AD
        y-MM-dd|MMM d, y|MMMM d, y|EEEE, MMMM d, y
        January|February|March|April|May|June|July|August|September|October|November|December

        Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec

        Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday

        Sun|Mon|Tue|Wed|Thu|Fri|Sat

        a.m.|p.m.
        en-GB|9|.|,|-|3|3|1|0|AD
        dd/MM/y|d MMM y|d MMMM y|EEEE, d MMMM y
        January|February|March|April|May|June|July|August|September|October|November|December

        Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept|Oct|Nov|Dec

        Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday

        Sun|Mon|Tue|Wed|Thu|Fri|Sat

        am|pm
        en-IN|9|.|,|-|3|2|1|0|AD
        dd/MM/yy|d MMM y|d MMMM y|EEEE, d MMMM y
        January|February|March|April|May|June|July|August|September|October|November|December

        Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept|Oct|Nov|Dec

        Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday

        Sun|Mon|Tue|Wed|Thu|Fri|Sat

        am|pm
        es|10|,|.|-|3|3|2|0|d. C.
        d/M/yy|d MMM y|d 'de' MMMM 'de' y|EEEE, d 'de' MMMM 'de' y
        enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre

        ene|feb|mar|abr|may|jun|jul|ago|sept|oct|nov|dic

        domingo|lunes|martes|miércoles|jueves|viernes|sábado

        dom|lun|mar|mié|jue|vie|sáb

        a. m.|p. m.
        es-419|10|.|,|-|3|3|1|0|d.C.
        d/M/yy|d MMM y|d 'de' MMMM 'de' y|EEEE, d 'de' MMMM 'de' y
        enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre

        ene|feb|mar|abr|may|jun|jul|ago|sept|oct|nov|dic

        domingo|lunes|martes|miércoles|jueves|viernes|sábado

        dom|lun|mar|mié|jue|vie|sáb

        a.m.|p.m.
        es-MX|10|.|,|-|3|3|1|0|d.C.
        dd/MM/yy|d MMM y|d 'de' MMMM 'de' y|EEEE, d 'de' MMMM 'de' y
        enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre

        ene|feb|mar|abr|may|jun|jul|ago|sep|oct|nov|dic

        domingo|lunes|martes|miércoles|jueves|viernes|sábado

        dom|lun|mar|mié|jue|vie|sáb

        a.m.|p.m.
        es-US|10|.|,|-|3|3|1|0|d.C.
        d/M/y|d MMM y|d 'de' MMMM 'de' y|EEEE, d 'de' MMMM 'de' y
        enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre

        ene|feb|mar|abr|may|jun|jul|ago|sept|oct|nov|dic

        domingo|lunes|martes|miércoles|jueves|viernes|sábado

        dom|lun|mar|mié|jue|vie|sáb

        a.m.|p.m.
        et|9|,| |−|3|3|2|0|pKr
        dd.MM.yy|d. MMM y|d. MMMM y|EEEE, d. MMMM y
        jaanuar|veebruar|märts|aprill|mai|juuni|juuli|august|september|oktoober|november|detsember

        jaan|veebr|märts|apr|mai|juuni|juuli|aug|sept|okt|nov|dets

        pühapäev|esmaspäev|teisipäev|kolmapäev|neljapäev|reede|laupäev

        P|E|T|K|N|R|L

        AM|PM
        eu|0|,|.|−|3|3|1|0|K.o.
        yy/M/d|y('e')'ko' MMM d('a')|y('e')'ko' MMMM'ren' d('a')|y('e')'ko' MMMM'ren' d('a'), EEEE
        urtarrila|otsaila|martxoa|apirila|maiatza|ekaina|uztaila|abuztua|iraila|urria|azaroa|abendua

        urt.|ots.|mar.|api.|mai.|eka.|uzt.|abu.|ira.|urr.|aza.|abe.

        igandea|astelehena|asteartea|asteazkena|osteguna|ostirala|larunbata

        ig.|al.|ar.|az.|og.|or.|lr.

        AM|PM
        fa|1|٫|٬|‎−|3|3|1|۰|م.
        y/M/d|d MMM y|d MMMM y|EEEE d MMMM y
        ژانویهٔ|فوریهٔ|مارس|آوریل|مهٔ|ژوئن|ژوئیهٔ|اوت|سپتامبر|اکتبر|نوامبر|دسامبر
        ژانویه|فوریه|مارس|آوریل|مه|ژوئن|ژوئیه|اوت|سپتامبر|اکتبر|نوامبر|دسامبر
        ژانویه|فوریه|مارس|آوریل|مه|ژوئن|ژوئیه|اوت|سپتامبر|اکتبر|نوامبر|دسامبر

        یکشنبه|دوشنبه|سه‌شنبه|چهارشنبه|پنجشنبه|جمعه|شنبه

        یکشنبه|دوشنبه|سه‌شنبه|چهارشنبه|پنجشنبه|جمعه|شنبه

        ق.ظ.|ب.ظ.
        fi|9|,| |−|3|3|1|0|jKr.
        d.M.y|d.M.y|d. MMMM y|cccc d. MMMM y
        tammikuuta|helmikuuta|maaliskuuta|huhtikuuta|toukokuuta|kesäkuuta|heinäkuuta|elokuuta|syyskuuta|lokakuuta|marraskuuta|joulukuuta
        tammikuu|helmikuu|maaliskuu|huhtikuu|toukokuu|kesäkuu|heinäkuu|elokuu|syyskuu|lokakuu|marraskuu|joulukuu
        tammi|helmi|maalis|huhti|touko|kesä|heinä|elo|syys|loka|marras|joulu

        sunnuntai|maanantaina|tiistaina|keskiviikkona|torstaina|perjantaina|lauantaina
        sunnuntai|maanantai|tiistai|keskiviikko|torstai|perjantai|lauantai
        su|ma|ti|ke|to|pe|la

        ap.|ip.
        fil|11|.|,|-|3|3|1|0|AD
        M/d/yy|MMM d, y|MMMM d, y|EEEE, MMMM d, y
        Enero|Pebrero|Marso|Abril|Mayo|Hunyo|Hulyo|Agosto|Setyembre|Oktubre|Nobyembre|Disyembre

        Ene|Peb|Mar|Abr|May|Hun|Hul|Ago|Set|Okt|Nob|Dis

        Linggo|Lunes|Martes|Miyerkules|Huwebes|Biyernes|Sabado

        Lin|Lun|Mar|Miy|Huw|Biy|Sab

        AM|PM
        fr|12|,| |-|3|3|1|0|ap. J.-C.
        dd/MM/y|d MMM y|d MMMM y|EEEE d MMMM y
        janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre

        janv.|févr.|mars|avr.|mai|juin|juil.|août|sept.|oct.|nov.|déc.

        dimanche|lundi|mardi|mercredi|jeudi|vendredi|samedi

        dim.|lun.|mar.|mer.|jeu.|ven.|sam.

        AM|PM
        fr-CA|12|,| |-|3|3|1|0|ap. J.-C.
        y-MM-dd|d MMM y|d MMMM y|EEEE d MMMM y
        janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre

        janv.|févr.|mars|avr.|mai|juin|juill.|août|sept.|oct.|nov.|déc.

        dimanche|lundi|mardi|mercredi|jeudi|vendredi|samedi

        dim.|lun.|mar.|mer.|jeu.|ven.|sam.

        a.m.|p.m.
        fr-CH|12|,| |-|3|3|1|0|ap. J.-C.
        dd.MM.yy|d MMM y|d MMMM y|EEEE, d MMMM y
        janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre

        janv.|févr.|mars|avr.|mai|juin|juil.|août|sept.|oct.|nov.|déc.

        dimanche|lundi|mardi|mercredi|jeudi|vendredi|samedi

        dim.|lun.|mar.|mer.|jeu.|ven.|sam.

        AM|PM
        ga|13|.|,|-|3|3|1|0|AD
        dd/MM/y|d MMM y|d MMMM y|EEEE d MMMM y
        Eanáir|Feabhra|Márta|Aibreán|Bealtaine|Meitheamh|Iúil|Lúnasa|Meán Fómhair|Deireadh Fómhair|Samhain|Nollaig

        Ean|Feabh|Márta|Aib|Beal|Meith|Iúil|Lún|MFómh|DFómh|Samh|Noll

        Dé Domhnaigh|Dé Luain|Dé Máirt|Dé Céadaoin|Déardaoin|Dé hAoine|Dé Sathairn

        Domh|Luan|Máirt|Céad|Déar|Aoine|Sath

        r.n.|i.n.
        gl|9|,|.|-|3|3|1|0|d.C.
        dd/MM/yy|d 'de' MMM 'de' y|d 'de' MMMM 'de' y|EEEE, d 'de' MMMM 'de' y
        xaneiro|febreiro|marzo|abril|maio|xuño|xullo|agosto|setembro|outubro|novembro|decembro

        xan.|feb.|mar.|abr.|maio|xuño|xul.|ago.|set.|out.|nov.|dec.

        domingo|luns|martes|mércores|xoves|venres|sábado

        dom.|luns|mar.|mér.|xov.|ven.|sáb.

        a.m.|p.m.
        gu|1|.|,|-|3|2|1|0|ઈ.સ.
        d/M/yy|d MMM, y|d MMMM, y|EEEE, d MMMM, y
        જાન્યુઆરી|ફેબ્રુઆરી|માર્ચ|એપ્રિલ|મે|જૂન|જુલાઈ|ઑગસ્ટ|સપ્ટેમ્બર|ઑક્ટોબર|નવેમ્બર|ડિસેમ્બર

        જાન્યુ|ફેબ્રુ|માર્ચ|એપ્રિલ|મે|જૂન|જુલાઈ|ઑગસ્ટ|સપ્ટે|ઑક્ટો|નવે|ડિસે

        રવિવાર|સોમવાર|મંગળવાર|બુધવાર|ગુરુવાર|શુક્રવાર|શનિવાર

        રવિ|સોમ|મંગળ|બુધ|ગુરુ|શુક્ર|શનિ

        AM|PM
        he|14|.|,|‎-|3|3|1|0|לספירה
        d.M.y|d בMMM y|d בMMMM y|EEEE, d בMMMM y
        ינואר|פברואר|מרץ|אפריל|מאי|יוני|יולי|אוגוסט|ספטמבר|אוקטובר|נובמבר|דצמבר

        ינו׳|פבר׳|מרץ|אפר׳|מאי|יוני|יולי|אוג׳|ספט׳|אוק׳|נוב׳|דצמ׳

        יום ראשון|יום שני|יום שלישי|יום רביעי|יום חמישי|יום שישי|יום שבת

        יום א׳|יום ב׳|יום ג׳|יום ד׳|יום ה׳|יום ו׳|שבת

        AM|PM
        hi|1|.|,|-|3|2|1|0|ईस्वी
        d/M/yy|d MMM y|d MMMM y|EEEE, d MMMM y
        जनवरी|फ़रवरी|मार्च|अप्रैल|मई|जून|जुलाई|अगस्त|सितंबर|अक्टूबर|नवंबर|दिसंबर

        जन॰|फ़र॰|मार्च|अप्रैल|मई|जून|जुल॰|अग॰|सित॰|अक्टू॰|नव॰|दिस॰

        रविवार|सोमवार|मंगलवार|बुधवार|गुरुवार|शुक्रवार|शनिवार

        रवि|सोम|मंगल|बुध|गुरु|शुक्र|शनि

        am|pm
        hr|4|,|.|−|3|3|1|0|po. Kr.
        dd. MM. y.|d. MMM y.|d. MMMM y.|EEEE, d. MMMM y.
        siječnja|veljače|ožujka|travnja|svibnja|lipnja|srpnja|kolovoza|rujna|listopada|studenoga|prosinca
        siječanj|veljača|ožujak|travanj|svibanj|lipanj|srpanj|kolovoz|rujan|listopad|studeni|prosinac
        sij|velj|ožu|tra|svi|lip|srp|kol|ruj|lis|stu|pro

        nedjelja|ponedjeljak|utorak|srijeda|četvrtak|petak|subota

        ned|pon|uto|sri|čet|pet|sub

        AM|PM
        hu|0|,| |-|3|3|2|0|i. sz.
        y. MM. dd.|y. MMM d.|y. MMMM d.|y. MMMM d., EEEE
        január|február|március|április|május|június|július|augusztus|szeptember|október|november|december

        jan.|febr.|márc.|ápr.|máj.|jún.|júl.|aug.|szept.|okt.|nov.|dec.

        vasárnap|hétfő|kedd|szerda|csütörtök|péntek|szombat

        V|H|K|Sze|Cs|P|Szo

        de.|du.
        hy|15|,| |-|3|3|1|0|մ.թ.
        dd.MM.yy|dd MMM, y թ.|dd MMMM, y թ.|y թ. MMMM d, EEEE
        հունվարի|փետրվարի|մարտի|ապրիլի|մայիսի|հունիսի|հուլիսի|օգոստոսի|սեպտեմբերի|հոկտեմբերի|նոյեմբերի|դեկտեմբերի
        հունվար|փետրվար|մարտ|ապրիլ|մայիս|հունիս|հուլիս|օգոստոս|սեպտեմբեր|հոկտեմբեր|նոյեմբեր|դեկտեմբեր
        հնվ|փտվ|մրտ|ապր|մյս|հնս|հլս|օգս|սեպ|հոկ|նոյ|դեկ

        կիրակի|երկուշաբթի|երեքշաբթի|չորեքշաբթի|հինգշաբթի|ուրբաթ|շաբաթ

        կիր|երկ|երք|չրք|հնգ|ուր|շբթ

        AM|PM
        id|16|,|.|-|3|3|1|0|M
        dd/MM/yy|d MMM y|d MMMM y|EEEE, dd MMMM y
        Januari|Februari|Maret|April|Mei|Juni|Juli|Agustus|September|Oktober|November|Desember

        Jan|Feb|Mar|Apr|Mei|Jun|Jul|Agu|Sep|Okt|Nov|Des

        Minggu|Senin|Selasa|Rabu|Kamis|Jumat|Sabtu

        Min|Sen|Sel|Rab|Kam|Jum|Sab

        AM|PM
        is|17|,|.|-|3|3|1|0|e.Kr.
        d.M.y|d. MMM y|d. MMMM y|EEEE, d. MMMM y
        janúar|febrúar|mars|apríl|maí|júní|júlí|ágúst|september|október|nóvember|desember

        jan.|feb.|mar.|apr.|maí|jún.|júl.|ágú.|sep.|okt.|nóv.|des.

        sunnudagur|mánudagur|þriðjudagur|miðvikudagur|fimmtudagur|föstudagur|laugardagur

        sun.|mán.|þri.|mið.|fim.|fös.|lau.

        f.h.|e.h.
        it|5|,|.|-|3|3|2|0|d.C.
        dd/MM/yy|d MMM y|d MMMM y|EEEE d MMMM y
        gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre

        gen|feb|mar|apr|mag|giu|lug|ago|set|ott|nov|dic

        domenica|lunedì|martedì|mercoledì|giovedì|venerdì|sabato

        dom|lun|mar|mer|gio|ven|sab

        AM|PM
        it-CH|5|.|’|-|3|3|2|0|d.C.
        dd.MM.yy|d MMM y|d MMMM y|EEEE, d MMMM y
        gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre

        gen|feb|mar|apr|mag|giu|lug|ago|set|ott|nov|dic

        domenica|lunedì|martedì|mercoledì|giovedì|venerdì|sabato

        dom|lun|mar|mer|gio|ven|sab

        AM|PM
        ja|16|.|,|-|3|3|1|0|西暦
        y/MM/dd|y/MM/dd|y年M月d日|y年M月d日EEEE
        1月|2月|3月|4月|5月|6月|7月|8月|9月|10月|11月|12月

        1月|2月|3月|4月|5月|6月|7月|8月|9月|10月|11月|12月

        日曜日|月曜日|火曜日|水曜日|木曜日|金曜日|土曜日

        日|月|火|水|木|金|土

        午前|午後
        ka|0|,| |-|3|3|2|0|ახ. წ.
        dd.MM.yy|d MMM. y|d MMMM, y|EEEE, dd MMMM, y
        იანვარი|თებერვალი|მარტი|აპრილი|მაისი|ივნისი|ივლისი|აგვისტო|სექტემბერი|ოქტომბერი|ნოემბერი|დეკემბერი

        იან|თებ|მარ|აპრ|მაი|ივნ|ივლ|აგვ|სექ|ოქტ|ნოე|დეკ

        კვირა|ორშაბათი|სამშაბათი|ოთხშაბათი|ხუთშაბათი|პარასკევი|შაბათი

        კვი|ორშ|სამ|ოთხ|ხუთ|პარ|შაბ

        AM|PM
        kk|0|,| |-|3|3|1|0|б.з.
        dd.MM.yy|y 'ж'. dd MMM|y 'ж'. d MMMM|y 'ж'. d MMMM, EEEE
        қаңтар|ақпан|наурыз|сәуір|мамыр|маусым|шілде|тамыз|қыркүйек|қазан|қараша|желтоқсан
        Қаңтар|Ақпан|Наурыз|Сәуір|Мамыр|Маусым|Шілде|Тамыз|Қыркүйек|Қазан|Қараша|Желтоқсан
        қаң.|ақп.|нау.|сәу.|мам.|мау.|шіл.|там.|қыр.|қаз.|қар.|жел.

        жексенбі|дүйсенбі|сейсенбі|сәрсенбі|бейсенбі|жұма|сенбі

        жс|дс|сс|ср|бс|жм|сб

        AM|PM
        km|16|.|,|-|3|3|1|0|គ.ស.
        d/M/yy|d MMM y|d MMMM y|EEEE d MMMM y
        មករា|កុម្ភៈ|មីនា|មេសា|ឧសភា|មិថុនា|កក្កដា|សីហា|កញ្ញា|តុលា|វិច្ឆិកា|ធ្នូ

        មករា|កុម្ភៈ|មីនា|មេសា|ឧសភា|មិថុនា|កក្កដា|សីហា|កញ្ញា|តុលា|វិច្ឆិកា|ធ្នូ

        អាទិត្យ|ច័ន្ទ|អង្គារ|ពុធ|ព្រហស្បតិ៍|សុក្រ|សៅរ៍
        អាទិត្យ|ចន្ទ|អង្គារ|ពុធ|ព្រហស្បតិ៍|សុក្រ|សៅរ៍
        អាទិត្យ|ចន្ទ|អង្គារ|ពុធ|ព្រហ|សុក្រ|សៅរ៍

        AM|PM
        kn|1|.|,|-|3|3|1|0|ಕ್ರಿ.ಶ
        d/M/yy|MMM d, y|MMMM d, y|EEEE, MMMM d, y
        ಜನವರಿ|ಫೆಬ್ರವರಿ|ಮಾರ್ಚ್|ಏಪ್ರಿಲ್|ಮೇ|ಜೂನ್|ಜುಲೈ|ಆಗಸ್ಟ್|ಸೆಪ್ಟೆಂಬರ್|ಅಕ್ಟೋಬರ್|ನವೆಂಬರ್|ಡಿಸೆಂಬರ್

        ಜನ|ಫೆಬ್ರ|ಮಾರ್ಚ್|ಏಪ್ರಿ|ಮೇ|ಜೂನ್|ಜುಲೈ|ಆಗ|ಸೆಪ್ಟೆಂ|ಅಕ್ಟೋ|ನವೆಂ|ಡಿಸೆಂ

        ಭಾನುವಾರ|ಸೋಮವಾರ|ಮಂಗಳವಾರ|ಬುಧವಾರ|ಗುರುವಾರ|ಶುಕ್ರವಾರ|ಶನಿವಾರ

        ಭಾನು|ಸೋಮ|ಮಂಗಳ|ಬುಧ|ಗುರು|ಶುಕ್ರ|ಶನಿ

        AM|PM
        ko|16|.|,|-|3|3|1|0|AD
        yy. M. d.|y. M. d.|y년 MMMM d일|y년 MMMM d일 EEEE
        1월|2월|3월|4월|5월|6월|7월|8월|9월|10월|11월|12월

        1월|2월|3월|4월|5월|6월|7월|8월|9월|10월|11월|12월

        일요일|월요일|화요일|수요일|목요일|금요일|토요일

        일|월|화|수|목|금|토

        AM|PM
        ky|0|,| |-|3|3|1|0|б.з.
        d/M/yy|y-'ж'., d-MMM|y-'ж'., d-MMMM|y-'ж'., d-MMMM, EEEE
        январь|февраль|март|апрель|май|июнь|июль|август|сентябрь|октябрь|ноябрь|декабрь
        Январь|Февраль|Март|Апрель|Май|Июнь|Июль|Август|Сентябрь|Октябрь|Ноябрь|Декабрь
        янв.|фев.|мар.|апр.|май|июн.|июл.|авг.|сен.|окт.|ноя.|дек.
        Янв|Фев|Мар|Апр|Май|Июн|Июл|Авг|Сен|Окт|Ноя|Дек
        жекшемби|дүйшөмбү|шейшемби|шаршемби|бейшемби|жума|ишемби

        жек.|дүй.|шейш.|шарш.|бейш.|жума|ишм.

        тң|тк
        lo|16|,|.|-|3|3|1|0|ຄ.ສ.
        d/M/y|d MMM y|d MMMM y|EEEE, d MMMM y
        ມັງກອນ|ກຸມພາ|ມີນາ|ເມສາ|ພຶດສະພາ|ມິຖຸນາ|ກໍລະກົດ|ສິງຫາ|ກັນຍາ|ຕຸລາ|ພະຈິກ|ທັນວາ

        ມ.ກ.|ກ.ພ.|ມ.ນ.|ມ.ສ.|ພ.ພ.|ມິ.ຖ.|ກ.ລ.|ສ.ຫ.|ກ.ຍ.|ຕ.ລ.|ພ.ຈ.|ທ.ວ.

        ວັນອາທິດ|ວັນຈັນ|ວັນອັງຄານ|ວັນພຸດ|ວັນພະຫັດ|ວັນສຸກ|ວັນເສົາ

        ອາທິດ|ຈັນ|ອັງຄານ|ພຸດ|ພະຫັດ|ສຸກ|ເສົາ

        ກ່ອນທ່ຽງ|ຫຼັງທ່ຽງ
        lt|18|,| |−|3|3|1|0|po Kr.
        y-MM-dd|y-MM-dd|y 'm'. MMMM d 'd'.|y 'm'. MMMM d 'd'., EEEE
        sausio|vasario|kovo|balandžio|gegužės|birželio|liepos|rugpjūčio|rugsėjo|spalio|lapkričio|gruodžio
        sausis|vasaris|kovas|balandis|gegužė|birželis|liepa|rugpjūtis|rugsėjis|spalis|lapkritis|gruodis
        saus.|vas.|kov.|bal.|geg.|birž.|liep.|rugp.|rugs.|spal.|lapkr.|gruod.

        sekmadienis|pirmadienis|antradienis|trečiadienis|ketvirtadienis|penktadienis|šeštadienis

        sk|pr|an|tr|kt|pn|št

        priešpiet|popiet
        lv|19|,| |-|3|3|2|0|m.ē.
        dd.MM.yy|y. 'gada' d. MMM|y. 'gada' d. MMMM|EEEE, y. 'gada' d. MMMM
        janvāris|februāris|marts|aprīlis|maijs|jūnijs|jūlijs|augusts|septembris|oktobris|novembris|decembris

        janv.|febr.|marts|apr.|maijs|jūn.|jūl.|aug.|sept.|okt.|nov.|dec.

        svētdiena|pirmdiena|otrdiena|trešdiena|ceturtdiena|piektdiena|sestdiena
        Svētdiena|Pirmdiena|Otrdiena|Trešdiena|Ceturtdiena|Piektdiena|Sestdiena
        svētd.|pirmd.|otrd.|trešd.|ceturtd.|piektd.|sestd.
        Svētd.|Pirmd.|Otrd.|Trešd.|Ceturtd.|Piektd.|Sestd.
        priekšp.|pēcp.
        mk|20|,|.|-|3|3|1|0|н. е.
        d.M.yy|d.M.y 'г'.|d MMMM y 'г'.|EEEE, d MMMM y 'г'.
        јануари|февруари|март|април|мај|јуни|јули|август|септември|октомври|ноември|декември

        јан.|фев.|мар.|апр.|мај|јун.|јул.|авг.|сеп.|окт.|ное.|дек.

        недела|понеделник|вторник|среда|четврток|петок|сабота

        нед.|пон.|вто.|сре.|чет.|пет.|саб.

        претпл.|попл.
        ml|0|.|,|-|3|2|1|0|എഡി
        d/M/yy|y, MMM d|y, MMMM d|y, MMMM d, EEEE
        ജനുവരി|ഫെബ്രുവരി|മാർച്ച്|ഏപ്രിൽ|മേയ്|ജൂൺ|ജൂലൈ|ഓഗസ്റ്റ്|സെപ്റ്റംബർ|ഒക്‌ടോബർ|നവംബർ|ഡിസംബർ

        ജനു|ഫെബ്രു|മാർ|ഏപ്രി|മേയ്|ജൂൺ|ജൂലൈ|ഓഗ|സെപ്റ്റം|ഒക്ടോ|നവം|ഡിസം

        ഞായറാഴ്‌ച|തിങ്കളാഴ്‌ച|ചൊവ്വാഴ്ച|ബുധനാഴ്‌ച|വ്യാഴാഴ്‌ച|വെള്ളിയാഴ്‌ച|ശനിയാഴ്‌ച
        ഞായറാഴ്‌ച|തിങ്കളാഴ്‌ച|ചൊവ്വാഴ്‌ച|ബുധനാഴ്‌ച|വ്യാഴാഴ്‌ച|വെള്ളിയാഴ്‌ച|ശനിയാഴ്‌ച
        ഞായർ|തിങ്കൾ|ചൊവ്വ|ബുധൻ|വ്യാഴം|വെള്ളി|ശനി

        AM|PM
        mn|0|.|,|-|3|3|1|0|МЭ
        y.MM.dd|y 'оны' MMM'ын' d|y 'оны' MMMM'ын' d|y 'оны' MMMM'ын' d, EEEE 'гараг'
        нэгдүгээр сар|хоёрдугаар сар|гуравдугаар сар|дөрөвдүгээр сар|тавдугаар сар|зургаадугаар сар|долоодугаар сар|наймдугаар сар|есдүгээр сар|аравдугаар сар|арван нэгдүгээр сар|арван хоёрдугаар сар
        Нэгдүгээр сар|Хоёрдугаар сар|Гуравдугаар сар|Дөрөвдүгээр сар|Тавдугаар сар|Зургаадугаар сар|Долоодугаар сар|Наймдугаар сар|Есдүгээр сар|Аравдугаар сар|Арван нэгдүгээр сар|Арван хоёрдугаар сар
        1-р сар|2-р сар|3-р сар|4-р сар|5-р сар|6-р сар|7-р сар|8-р сар|9-р сар|10-р сар|11-р сар|12-р сар

        ням|даваа|мягмар|лхагва|пүрэв|баасан|бямба
        Ням|Даваа|Мягмар|Лхагва|Пүрэв|Баасан|Бямба
        Ня|Да|Мя|Лх|Пү|Ба|Бя

        ү.ө.|ү.х.
        mr|0|.|,|-|3|2|1|०|इ. स.
        d/M/yy|d MMM, y|d MMMM, y|EEEE, d MMMM, y
        जानेवारी|फेब्रुवारी|मार्च|एप्रिल|मे|जून|जुलै|ऑगस्ट|सप्टेंबर|ऑक्टोबर|नोव्हेंबर|डिसेंबर

        जाने|फेब्रु|मार्च|एप्रि|मे|जून|जुलै|ऑग|सप्टें|ऑक्टो|नोव्हें|डिसें

        रविवार|सोमवार|मंगळवार|बुधवार|गुरुवार|शुक्रवार|शनिवार

        रवि|सोम|मंगळ|बुध|गुरु|शुक्र|शनि

        AM|PM
        ms|16|.|,|-|3|3|1|0|TM
        d/MM/yy|d MMM y|d MMMM y|EEEE, d MMMM y
        Januari|Februari|Mac|April|Mei|Jun|Julai|Ogos|September|Oktober|November|Disember

        Jan|Feb|Mac|Apr|Mei|Jun|Jul|Ogo|Sep|Okt|Nov|Dis

        Ahad|Isnin|Selasa|Rabu|Khamis|Jumaat|Sabtu

        Ahd|Isn|Sel|Rab|Kha|Jum|Sab

        PG|PTG
        my|16|.|,|-|3|3|1|၀|အဒေီ
        d/M/yy|y MMM d|y MMMM d|y MMMM d EEEE
        ဇန်နဝါရီ|ဖေဖော်ဝါရီ|မတ်|ဧပြီ|မေ|ဇွန်|ဇူလိုင်|ဩဂုတ်|စက်တင်ဘာ|အောက်တိုဘာ|နိုဝင်ဘာ|ဒီဇင်ဘာ

        ဇန်|ဖေ|မတ်|ဧ|မေ|ဇွန်|ဇူ|ဩ|စက်|အောက်|နို|ဒီ

        တနင်္ဂနွေ|တနင်္လာ|အင်္ဂါ|ဗုဒ္ဓဟူး|ကြာသပတေး|သောကြာ|စနေ

        တနင်္ဂနွေ|တနင်္လာ|အင်္ဂါ|ဗုဒ္ဓဟူး|ကြာသပတေး|သောကြာ|စနေ

        နံနက်|ညနေ
        nb|0|,| |−|3|3|1|0|e.Kr.
        dd.MM.y|d. MMM y|d. MMMM y|EEEE d. MMMM y
        januar|februar|mars|april|mai|juni|juli|august|september|oktober|november|desember

        jan.|feb.|mars|apr.|mai|juni|juli|aug.|sep.|okt.|nov.|des.
        jan|feb|mar|apr|mai|jun|jul|aug|sep|okt|nov|des
        søndag|mandag|tirsdag|onsdag|torsdag|fredag|lørdag

        søn.|man.|tir.|ons.|tor.|fre.|lør.

        a.m.|p.m.
        ne|0|.|,|-|3|2|1|०|सन्
        yy/M/d|y MMM d|y MMMM d|y MMMM d, EEEE
        जनवरी|फेब्रुअरी|मार्च|अप्रिल|मे|जुन|जुलाई|अगस्ट|सेप्टेम्बर|अक्टोबर|नोभेम्बर|डिसेम्बर

        जनवरी|फेब्रुअरी|मार्च|अप्रिल|मे|जुन|जुलाई|अगस्ट|सेप्टेम्बर|अक्टोबर|नोभेम्बर|डिसेम्बर

        आइतबार|सोमबार|मङ्गलबार|बुधबार|बिहिबार|शुक्रबार|शनिबार

        आइत|सोम|मङ्गल|बुध|बिहि|शुक्र|शनि

        पूर्वाह्न|अपराह्न
        nl|9|,|.|-|3|3|1|0|n.Chr.
        dd-MM-y|d MMM y|d MMMM y|EEEE d MMMM y
        januari|februari|maart|april|mei|juni|juli|augustus|september|oktober|november|december

        jan|feb|mrt|apr|mei|jun|jul|aug|sep|okt|nov|dec

        zondag|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag

        zo|ma|di|wo|do|vr|za

        a.m.|p.m.
        nn|0|,| |−|3|3|1|0|e.Kr.
        dd.MM.y|d. MMM y|d. MMMM y|EEEE d. MMMM y
        januar|februar|mars|april|mai|juni|juli|august|september|oktober|november|desember

        jan.|feb.|mars|apr.|mai|juni|juli|aug.|sep.|okt.|nov.|des.
        jan|feb|mar|apr|mai|jun|jul|aug|sep|okt|nov|des
        søndag|måndag|tysdag|onsdag|torsdag|fredag|laurdag

        sø.|må.|ty.|on.|to.|fr.|la.
        søn|mån|tys|ons|tor|fre|lau
        f.m.|e.m.
        pa|21|.|,|-|3|2|1|0|ਸੰਨ
        d/M/yy|d MMM y|d MMMM y|EEEE, d MMMM y
        ਜਨਵਰੀ|ਫ਼ਰਵਰੀ|ਮਾਰਚ|ਅਪ੍ਰੈਲ|ਮਈ|ਜੂਨ|ਜੁਲਾਈ|ਅਗਸਤ|ਸਤੰਬਰ|ਅਕਤੂਬਰ|ਨਵੰਬਰ|ਦਸੰਬਰ

        ਜਨ|ਫ਼ਰ|ਮਾਰਚ|ਅਪ੍ਰੈ|ਮਈ|ਜੂਨ|ਜੁਲਾ|ਅਗ|ਸਤੰ|ਅਕਤੂ|ਨਵੰ|ਦਸੰ

        ਐਤਵਾਰ|ਸੋਮਵਾਰ|ਮੰਗਲਵਾਰ|ਬੁੱਧਵਾਰ|ਵੀਰਵਾਰ|ਸ਼ੁੱਕਰਵਾਰ|ਸ਼ਨਿੱਚਰਵਾਰ

        ਐਤ|ਸੋਮ|ਮੰਗਲ|ਬੁੱਧ|ਵੀਰ|ਸ਼ੁੱਕਰ|ਸ਼ਨਿੱਚਰ

        ਪੂ.ਦੁ.|ਬਾ.ਦੁ.
        pl|22|,| |-|3|3|2|0|n.e.
        d.MM.y|d MMM y|d MMMM y|EEEE, d MMMM y
        stycznia|lutego|marca|kwietnia|maja|czerwca|lipca|sierpnia|września|października|listopada|grudnia
        styczeń|luty|marzec|kwiecień|maj|czerwiec|lipiec|sierpień|wrzesień|październik|listopad|grudzień
        sty|lut|mar|kwi|maj|cze|lip|sie|wrz|paź|lis|gru

        niedziela|poniedziałek|wtorek|środa|czwartek|piątek|sobota

        niedz.|pon.|wt.|śr.|czw.|pt.|sob.

        AM|PM
        pt|23|,|.|-|3|3|1|0|d.C.
        dd/MM/y|d 'de' MMM 'de' y|d 'de' MMMM 'de' y|EEEE, d 'de' MMMM 'de' y
        janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro

        jan.|fev.|mar.|abr.|mai.|jun.|jul.|ago.|set.|out.|nov.|dez.

        domingo|segunda-feira|terça-feira|quarta-feira|quinta-feira|sexta-feira|sábado

        dom.|seg.|ter.|qua.|qui.|sex.|sáb.

        AM|PM
        pt-PT|5|,| |-|3|3|2|0|E.C.
        dd/MM/yy|dd/MM/y|d 'de' MMMM 'de' y|EEEE, d 'de' MMMM 'de' y
        janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro

        jan.|fev.|mar.|abr.|mai.|jun.|jul.|ago.|set.|out.|nov.|dez.

        domingo|segunda-feira|terça-feira|quarta-feira|quinta-feira|sexta-feira|sábado

        domingo|segunda|terça|quarta|quinta|sexta|sábado

        a.m.|p.m.
        ro|24|,|.|-|3|3|1|0|d.Hr.
        dd.MM.y|d MMM y|d MMMM y|EEEE, d MMMM y
        ianuarie|februarie|martie|aprilie|mai|iunie|iulie|august|septembrie|octombrie|noiembrie|decembrie

        ian.|feb.|mar.|apr.|mai|iun.|iul.|aug.|sept.|oct.|nov.|dec.

        duminică|luni|marți|miercuri|joi|vineri|sâmbătă

        dum.|lun.|mar.|mie.|joi|vin.|sâm.

        a.m.|p.m.
        ru|25|,| |-|3|3|1|0|н. э.
        dd.MM.y|d MMM y 'г'.|d MMMM y 'г'.|EEEE, d MMMM y 'г'.
        января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря
        январь|февраль|март|апрель|май|июнь|июль|август|сентябрь|октябрь|ноябрь|декабрь
        янв.|февр.|мар.|апр.|мая|июн.|июл.|авг.|сент.|окт.|нояб.|дек.
        янв.|февр.|март|апр.|май|июнь|июль|авг.|сент.|окт.|нояб.|дек.
        воскресенье|понедельник|вторник|среда|четверг|пятница|суббота

        вс|пн|вт|ср|чт|пт|сб

        AM|PM
        si|26|.|,|-|3|3|1|0|ක්‍රි.ව.
        y-MM-dd|y MMM d|y MMMM d|y MMMM d, EEEE
        ජනවාරි|පෙබරවාරි|මාර්තු|අප්‍රේල්|මැයි|ජූනි|ජූලි|අගෝස්තු|සැප්තැම්බර්|ඔක්තෝබර්|නොවැම්බර්|දෙසැම්බර්

        ජන|පෙබ|මාර්තු|අප්‍රේල්|මැයි|ජූනි|ජූලි|අගෝ|සැප්|ඔක්|නොවැ|දෙසැ
        ජන|පෙබ|මාර්|අප්‍රේල්|මැයි|ජූනි|ජූලි|අගෝ|සැප්|ඔක්|නොවැ|දෙසැ
        ඉරිදා|සඳුදා|අඟහරුවාදා|බදාදා|බ්‍රහස්පතින්දා|සිකුරාදා|සෙනසුරාදා

        ඉරිදා|සඳුදා|අඟහ|බදාදා|බ්‍රහස්|සිකු|සෙන

        පෙ.ව.|ප.ව.
        sk|6|,| |-|3|3|1|0|po Kr.
        d. M. y|d. M. y|d. MMMM y|EEEE d. MMMM y
        januára|februára|marca|apríla|mája|júna|júla|augusta|septembra|októbra|novembra|decembra
        január|február|marec|apríl|máj|jún|júl|august|september|október|november|december
        jan|feb|mar|apr|máj|jún|júl|aug|sep|okt|nov|dec

        nedeľa|pondelok|utorok|streda|štvrtok|piatok|sobota

        ne|po|ut|st|št|pi|so

        AM|PM
        sl|27|,|.|−|3|3|2|0|po Kr.
        d. M. yy|d. MMM y|d. MMMM y|EEEE, d. MMMM y
        januar|februar|marec|april|maj|junij|julij|avgust|september|oktober|november|december

        jan.|feb.|mar.|apr.|maj|jun.|jul.|avg.|sep.|okt.|nov.|dec.

        nedelja|ponedeljek|torek|sreda|četrtek|petek|sobota

        ned.|pon.|tor.|sre.|čet.|pet.|sob.

        dop.|pop.
        sq|0|,| |-|3|3|2|0|mb.K.
        d.M.yy|d MMM y|d MMMM y|EEEE, d MMMM y
        janar|shkurt|mars|prill|maj|qershor|korrik|gusht|shtator|tetor|nëntor|dhjetor

        jan|shk|mar|pri|maj|qer|korr|gush|sht|tet|nën|dhj

        e diel|e hënë|e martë|e mërkurë|e enjte|e premte|e shtunë

        die|hën|mar|mër|enj|pre|sht

        p.d.|m.d.
        sr|4|,|.|-|3|3|1|0|н. е.
        d. M. y.|d. M. y.|d. MMMM y.|EEEE, d. MMMM y.
        јануар|фебруар|март|април|мај|јун|јул|август|септембар|октобар|новембар|децембар

        јан|феб|мар|апр|мај|јун|јул|авг|сеп|окт|нов|дец

        недеља|понедељак|уторак|среда|четвртак|петак|субота

        нед|пон|уто|сре|чет|пет|суб

        AM|PM
        sr-Latn|4|,|.|-|3|3|1|0|n. e.
        d. M. y.|d. M. y.|d. MMMM y.|EEEE, d. MMMM y.
        januar|februar|mart|april|maj|jun|jul|avgust|septembar|oktobar|novembar|decembar

        jan|feb|mar|apr|maj|jun|jul|avg|sep|okt|nov|dec

        nedelja|ponedeljak|utorak|sreda|četvrtak|petak|subota

        ned|pon|uto|sre|čet|pet|sub

        AM|PM
        sv|9|,| |−|3|3|1|0|e.Kr.
        y-MM-dd|d MMM y|d MMMM y|EEEE d MMMM y
        januari|februari|mars|april|maj|juni|juli|augusti|september|oktober|november|december

        jan.|feb.|mars|apr.|maj|juni|juli|aug.|sep.|okt.|nov.|dec.

        söndag|måndag|tisdag|onsdag|torsdag|fredag|lördag

        sön|mån|tis|ons|tors|fre|lör

        fm|em
        sw|9|.|,|-|3|3|1|0|BK
        dd/MM/y|d MMM y|d MMMM y|EEEE, d MMMM y
        Januari|Februari|Machi|Aprili|Mei|Juni|Julai|Agosti|Septemba|Oktoba|Novemba|Desemba

        Jan|Feb|Mac|Apr|Mei|Jun|Jul|Ago|Sep|Okt|Nov|Des

        Jumapili|Jumatatu|Jumanne|Jumatano|Alhamisi|Ijumaa|Jumamosi

        Jumapili|Jumatatu|Jumanne|Jumatano|Alhamisi|Ijumaa|Jumamosi

        AM|PM
        ta|0|.|,|-|3|2|1|0|கி.பி.
        d/M/yy|d MMM, y|d MMMM, y|EEEE, d MMMM, y
        ஜனவரி|பிப்ரவரி|மார்ச்|ஏப்ரல்|மே|ஜூன்|ஜூலை|ஆகஸ்ட்|செப்டம்பர்|அக்டோபர்|நவம்பர்|டிசம்பர்

        ஜன.|பிப்.|மார்.|ஏப்.|மே|ஜூன்|ஜூலை|ஆக.|செப்.|அக்.|நவ.|டிச.

        ஞாயிறு|திங்கள்|செவ்வாய்|புதன்|வியாழன்|வெள்ளி|சனி

        ஞாயி.|திங்.|செவ்.|புத.|வியா.|வெள்.|சனி

        AM|PM
        te|0|.|,|-|3|2|1|0|క్రీశ
        dd-MM-yy|d MMM, y|d MMMM, y|d, MMMM y, EEEE
        జనవరి|ఫిబ్రవరి|మార్చి|ఏప్రిల్|మే|జూన్|జులై|ఆగస్టు|సెప్టెంబర్|అక్టోబర్|నవంబర్|డిసెంబర్

        జన|ఫిబ్ర|మార్చి|ఏప్రి|మే|జూన్|జులై|ఆగ|సెప్టెం|అక్టో|నవం|డిసెం

        ఆదివారం|సోమవారం|మంగళవారం|బుధవారం|గురువారం|శుక్రవారం|శనివారం

        ఆది|సోమ|మంగళ|బుధ|గురు|శుక్ర|శని

        AM|PM
        th|16|.|,|-|3|3|1|0|ค.ศ.
        d/M/yy|d MMM y|d MMMM G y|EEEEที่ d MMMM G y
        มกราคม|กุมภาพันธ์|มีนาคม|เมษายน|พฤษภาคม|มิถุนายน|กรกฎาคม|สิงหาคม|กันยายน|ตุลาคม|พฤศจิกายน|ธันวาคม

        ม.ค.|ก.พ.|มี.ค.|เม.ย.|พ.ค.|มิ.ย.|ก.ค.|ส.ค.|ก.ย.|ต.ค.|พ.ย.|ธ.ค.

        วันอาทิตย์|วันจันทร์|วันอังคาร|วันพุธ|วันพฤหัสบดี|วันศุกร์|วันเสาร์

        อา.|จ.|อ.|พ.|พฤ.|ศ.|ส.

        AM|PM
        tr|0|,|.|-|3|3|1|0|MS
        d.MM.y|d MMM y|d MMMM y|d MMMM y EEEE
        Ocak|Şubat|Mart|Nisan|Mayıs|Haziran|Temmuz|Ağustos|Eylül|Ekim|Kasım|Aralık

        Oca|Şub|Mar|Nis|May|Haz|Tem|Ağu|Eyl|Eki|Kas|Ara

        Pazar|Pazartesi|Salı|Çarşamba|Perşembe|Cuma|Cumartesi

        Paz|Pzt|Sal|Çar|Per|Cum|Cmt

        ÖÖ|ÖS
        uk|25|,| |-|3|3|1|0|н. е.
        dd.MM.yy|d MMM y 'р'.|d MMMM y 'р'.|EEEE, d MMMM y 'р'.
        січня|лютого|березня|квітня|травня|червня|липня|серпня|вересня|жовтня|листопада|грудня
        січень|лютий|березень|квітень|травень|червень|липень|серпень|вересень|жовтень|листопад|грудень
        січ.|лют.|бер.|квіт.|трав.|черв.|лип.|серп.|вер.|жовт.|лист.|груд.

        неділя|понеділок|вівторок|середа|четвер|пʼятниця|субота

        нд|пн|вт|ср|чт|пт|сб

        дп|пп
        ur|9|.|,|‎-|3|3|1|0|عیسوی
        d/M/yy|d MMM، y|d MMMM، y|EEEE، d MMMM، y
        جنوری|فروری|مارچ|اپریل|مئی|جون|جولائی|اگست|ستمبر|اکتوبر|نومبر|دسمبر

        جنوری|فروری|مارچ|اپریل|مئی|جون|جولائی|اگست|ستمبر|اکتوبر|نومبر|دسمبر

        اتوار|پیر|منگل|بدھ|جمعرات|جمعہ|ہفتہ

        اتوار|پیر|منگل|بدھ|جمعرات|جمعہ|ہفتہ

        AM|PM
        uz|0|,| |-|3|3|1|0|milodiy
        dd/MM/yy|d-MMM, y|d-MMMM, y|EEEE, d-MMMM, y
        yanvar|fevral|mart|aprel|may|iyun|iyul|avgust|sentabr|oktabr|noyabr|dekabr
        Yanvar|Fevral|Mart|Aprel|May|Iyun|Iyul|Avgust|Sentabr|Oktabr|Noyabr|Dekabr
        yan|fev|mar|apr|may|iyn|iyl|avg|sen|okt|noy|dek
        Yan|Fev|Mar|Apr|May|Iyn|Iyl|Avg|Sen|Okt|Noy|Dek
        yakshanba|dushanba|seshanba|chorshanba|payshanba|juma|shanba

        Yak|Dush|Sesh|Chor|Pay|Jum|Shan

        TO|TK
        vi|16|,|.|-|3|3|1|0|SCN
        d/M/yy|d MMM, y|d MMMM, y|EEEE, d MMMM, y
        tháng 1|tháng 2|tháng 3|tháng 4|tháng 5|tháng 6|tháng 7|tháng 8|tháng 9|tháng 10|tháng 11|tháng 12
        Tháng 1|Tháng 2|Tháng 3|Tháng 4|Tháng 5|Tháng 6|Tháng 7|Tháng 8|Tháng 9|Tháng 10|Tháng 11|Tháng 12
        thg 1|thg 2|thg 3|thg 4|thg 5|thg 6|thg 7|thg 8|thg 9|thg 10|thg 11|thg 12
        Tháng 1|Tháng 2|Tháng 3|Tháng 4|Tháng 5|Tháng 6|Tháng 7|Tháng 8|Tháng 9|Tháng 10|Tháng 11|Tháng 12
        Chủ Nhật|Thứ Hai|Thứ Ba|Thứ Tư|Thứ Năm|Thứ Sáu|Thứ Bảy

        CN|Th 2|Th 3|Th 4|Th 5|Th 6|Th 7

        SA|CH
        zh|16|.|,|-|3|3|1|0|公元
        y/M/d|y年M月d日|y年M月d日|y年M月d日EEEE
        一月|二月|三月|四月|五月|六月|七月|八月|九月|十月|十一月|十二月

        1月|2月|3月|4月|5月|6月|7月|8月|9月|10月|11月|12月

        星期日|星期一|星期二|星期三|星期四|星期五|星期六

        周日|周一|周二|周三|周四|周五|周六

        上午|下午
        zh-Hant|16|.|,|-|3|3|1|0|西元
        y/M/d|y年M月d日|y年M月d日|y年M月d日 EEEE
        1月|2月|3月|4月|5月|6月|7月|8月|9月|10月|11月|12月

        1月|2月|3月|4月|5月|6月|7月|8月|9月|10月|11月|12月

        星期日|星期一|星期二|星期三|星期四|星期五|星期六

        週日|週一|週二|週三|週四|週五|週六

        上午|下午
        zh-Hant-HK|16|.|,|-|3|3|1|0|公元
        d/M/y|y年M月d日|y年M月d日|y年M月d日EEEE
        1月|2月|3月|4月|5月|6月|7月|8月|9月|10月|11月|12月

        1月|2月|3月|4月|5月|6月|7月|8月|9月|10月|11月|12月

        星期日|星期一|星期二|星期三|星期四|星期五|星期六

        週日|週一|週二|週三|週四|週五|週六

        上午|下午
        zu|1|.|,|-|3|3|1|0|AD
        M/d/yy|MMM d, y|MMMM d, y|EEEE, MMMM d, y
        Januwari|Februwari|Mashi|Ephreli|Meyi|Juni|Julayi|Agasti|Septhemba|Okthoba|Novemba|Disemba

        Jan|Feb|Mas|Eph|Mey|Jun|Jul|Aga|Sep|Okt|Nov|Dis

        ISonto|UMsombuluko|ULwesibili|ULwesithathu|ULwesine|ULwesihlanu|UMgqibelo

        Son|Mso|Bil|Tha|Sin|Hla|Mgq

        AM|PM
        """

    /// Locales that write something otherwise than the language behind `<`: a head, and the lines
    /// that differ with their numbers.
    // swift-format-ignore
    static let variants: StaticString = """
        af-NA<af|0|,| |-|3|3|1|0|n.C.
        1:y-MM-dd|d MMM y|d MMMM y|EEEE d MMMM y
        ar-BH<ar|2|٫|٬|؜-|3|3|1|٠|م
        ar-DJ<ar|2|٫|٬|؜-|3|3|1|٠|م
        ar-DZ<ar|2|,|.|‎-|3|3|1|0|م
        2:جانفي|فيفري|مارس|أفريل|ماي|جوان|جويلية|أوت|سبتمبر|أكتوبر|نوفمبر|ديسمبر
        4:جانفي|فيفري|مارس|أفريل|ماي|جوان|جويلية|أوت|سبتمبر|أكتوبر|نوفمبر|ديسمبر
        ar-ER<ar|2|٫|٬|؜-|3|3|1|٠|م
        ar-IL<ar|2|٫|٬|؜-|3|3|1|٠|م
        ar-IQ<ar|2|٫|٬|؜-|3|3|1|٠|م
        2:كانون الثاني|شباط|آذار|نيسان|أيار|حزيران|تموز|آب|أيلول|تشرين الأول|تشرين الثاني|كانون الأول
        4:كانون الثاني|شباط|آذار|نيسان|أيار|حزيران|تموز|آب|أيلول|تشرين الأول|تشرين الثاني|كانون الأول
        5:كانون الثاني|شباط|آذار|نيسان|أيار|حزيران|تموز|آب|أيلول|تشرين الأول|تشرين الثاني|كانون الأول
        ar-JO<ar|2|٫|٬|؜-|3|3|1|٠|م
        2:كانون الثاني|شباط|آذار|نيسان|أيار|حزيران|تموز|آب|أيلول|تشرين الأول|تشرين الثاني|كانون الأول
        4:كانون الثاني|شباط|آذار|نيسان|أيار|حزيران|تموز|آب|أيلول|تشرين الأول|تشرين الثاني|كانون الأول
        ar-KM<ar|2|٫|٬|؜-|3|3|1|٠|م
        ar-KW<ar|2|٫|٬|؜-|3|3|1|٠|م
        ar-LB<ar|2|٫|٬|؜-|3|3|1|٠|م
        2:كانون الثاني|شباط|آذار|نيسان|أيار|حزيران|تموز|آب|أيلول|تشرين الأول|تشرين الثاني|كانون الأول
        4:كانون الثاني|شباط|آذار|نيسان|أيار|حزيران|تموز|آب|أيلول|تشرين الأول|تشرين الثاني|كانون الأول
        ar-LY<ar|2|,|.|‎-|3|3|1|0|م
        ar-MA<ar|2|,|.|‎-|3|3|1|0|م
        2:يناير|فبراير|مارس|أبريل|ماي|يونيو|يوليوز|غشت|شتنبر|أكتوبر|نونبر|دجنبر
        4:يناير|فبراير|مارس|أبريل|ماي|يونيو|يوليوز|غشت|شتنبر|أكتوبر|نونبر|دجنبر
        ar-MR<ar|2|٫|٬|؜-|3|3|1|٠|م
        2:يناير|فبراير|مارس|إبريل|مايو|يونيو|يوليو|أغشت|شتمبر|أكتوبر|نوفمبر|دجمبر
        4:يناير|فبراير|مارس|إبريل|مايو|يونيو|يوليو|أغشت|شتمبر|أكتوبر|نوفمبر|دجمبر
        ar-OM<ar|2|٫|٬|؜-|3|3|1|٠|م
        ar-PS<ar|2|٫|٬|؜-|3|3|1|٠|م
        2:كانون الثاني|شباط|آذار|نيسان|أيار|حزيران|تموز|آب|أيلول|تشرين الأول|تشرين الثاني|كانون الأول
        4:كانون الثاني|شباط|آذار|نيسان|أيار|حزيران|تموز|آب|أيلول|تشرين الأول|تشرين الثاني|كانون الأول
        ar-QA<ar|2|٫|٬|؜-|3|3|1|٠|م
        ar-SA<ar|2|٫|٬|؜-|3|3|1|٠|م
        ar-SD<ar|2|٫|٬|؜-|3|3|1|٠|م
        ar-SO<ar|2|٫|٬|؜-|3|3|1|٠|م
        ar-SS<ar|2|٫|٬|؜-|3|3|1|٠|م
        ar-SY<ar|2|٫|٬|؜-|3|3|1|٠|م
        2:كانون الثاني|شباط|آذار|نيسان|أيار|حزيران|تموز|آب|أيلول|تشرين الأول|تشرين الثاني|كانون الأول
        4:كانون الثاني|شباط|آذار|نيسان|أيار|حزيران|تموز|آب|أيلول|تشرين الأول|تشرين الثاني|كانون الأول
        ar-TD<ar|2|٫|٬|؜-|3|3|1|٠|م
        ar-TN<ar|2|,|.|‎-|3|3|1|0|م
        2:جانفي|فيفري|مارس|أفريل|ماي|جوان|جويلية|أوت|سبتمبر|أكتوبر|نوفمبر|ديسمبر
        4:جانفي|فيفري|مارس|أفريل|ماي|جوان|جويلية|أوت|سبتمبر|أكتوبر|نوفمبر|ديسمبر
        ar-YE<ar|2|٫|٬|؜-|3|3|1|٠|م
        az-Cyrl<az|0|.|,|-|3|3|1|0|ј.е.
        2:јанвар|феврал|март|апрел|май|ијун|ијул|август|сентјабр|октјабр|нојабр|декабр
        3:Јанвар|Феврал|Март|Апрел|Май|Ијун|Ијул|Август|Сентјабр|Октјабр|Нојабр|Декабр
        4:јан|фев|мар|апр|май|ијн|ијл|авг|сен|окт|ној|дек
        6:базар|базар ертәси|чәршәнбә ахшамы|чәршәнбә|ҹүмә ахшамы|ҹүмә|шәнбә
        8:Б.|Б.Е.|Ч.А.|Ч.|Ҹ.А.|Ҹ.|Ш.
        9:
        10:АМ|ПМ
        az-Cyrl-AZ<az|0|.|,|-|3|3|1|0|ј.е.
        2:јанвар|феврал|март|апрел|май|ијун|ијул|август|сентјабр|октјабр|нојабр|декабр
        3:Јанвар|Феврал|Март|Апрел|Май|Ијун|Ијул|Август|Сентјабр|Октјабр|Нојабр|Декабр
        4:јан|фев|мар|апр|май|ијн|ијл|авг|сен|окт|ној|дек
        6:базар|базар ертәси|чәршәнбә ахшамы|чәршәнбә|ҹүмә ахшамы|ҹүмә|шәнбә
        8:Б.|Б.Е.|Ч.А.|Ч.|Ҹ.А.|Ҹ.|Ш.
        9:
        10:АМ|ПМ
        be-TARASK<be|3|,| |-|3|3|2|0|н.э.
        1:d.MM.yy|d.MM.y|d MMMM y 'г'.|EEEE, d MMMM y 'г'.
        2:студзеня|лютага|сакавіка|красавіка|траўня|чэрвеня|ліпеня|жніўня|верасьня|кастрычніка|лістапада|сьнежня
        3:студзень|люты|сакавік|красавік|травень|чэрвень|ліпень|жнівень|верасень|кастрычнік|лістапад|сьнежань
        4:сту|лют|сак|кра|тра|чэр|ліп|жні|вер|кас|ліс|сьн
        5:
        6:нядзеля|панядзелак|аўторак|серада|чацьвер|пятніца|субота
        8:няд|пан|аўт|сер|чац|пят|суб
        10:апоўначы|апоўдні
        bn-IN<bn|1|.|,|-|3|2|1|০|খ্রিঃ
        4:জানু|ফেব|মার্চ|এপ্রি|মে|জুন|জুল|আগ|সেপ্টেঃ|অক্টোঃ|নভেঃ|ডিসেঃ
        5:জানু|ফেব|মার্চ|এপ্রিল|মে|জুন|জুলাই|আগস্ট|সেপ্টেঃ|অক্টোঃ|নভেঃ|ডিসেঃ
        bs-Cyrl<bs|4|,|.|-|3|3|1|0|н. е.
        1:d.M.yy.|dd.MM.y.|dd. MMMM y.|EEEE, dd. MMMM y.
        2:јануар|фебруар|март|април|мај|јуни|јули|аугуст|септембар|октобар|новембар|децембар
        4:јан|феб|мар|апр|мај|јун|јул|ауг|сеп|окт|нов|дец
        6:недјеља|понедјељак|уторак|сриједа|четвртак|петак|субота
        8:нед|пон|уто|сри|чет|пет|суб
        10:пре подне|поподне
        bs-Cyrl-BA<bs|4|,|.|-|3|3|1|0|н. е.
        1:d.M.yy.|dd.MM.y.|dd. MMMM y.|EEEE, dd. MMMM y.
        2:јануар|фебруар|март|април|мај|јуни|јули|аугуст|септембар|октобар|новембар|децембар
        4:јан|феб|мар|апр|мај|јун|јул|ауг|сеп|окт|нов|дец
        6:недјеља|понедјељак|уторак|сриједа|четвртак|петак|субота
        8:нед|пон|уто|сри|чет|пет|суб
        10:пре подне|поподне
        de-IT<de|9|,|.|-|3|3|1|0|n. Chr.
        2:Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember
        4:Jän.|Feb.|März|Apr.|Mai|Juni|Juli|Aug.|Sep.|Okt.|Nov.|Dez.
        5:Jän|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez
        de-LI<de|9|.|’|-|3|3|1|0|n. Chr.
        el-POLYTON<el|0|,|.|-|3|3|1|0|μ.Χ.
        2:Ιανουαρίου|Φεβρουαρίου|Μαρτίου|Απριλίου|Μαΐου|Ιουνίου|Ιουλίου|Αὐγούστου|Σεπτεμβρίου|Ὀκτωβρίου|Νοεμβρίου|Δεκεμβρίου
        3:Ιανουάριος|Φεβρουάριος|Μάρτιος|Απρίλιος|Μάιος|Ιούνιος|Ιούλιος|Αὔγουστος|Σεπτέμβριος|Ὀκτώβριος|Νοέμβριος|Δεκέμβριος
        4:Ιαν|Φεβ|Μαρ|Απρ|Μαΐ|Ιουν|Ιουλ|Αὐγ|Σεπ|Ὀκτ|Νοε|Δεκ
        en-AE<en|9|.|,|-|3|3|1|0|AD
        1:dd/MM/y|d MMM y|d MMMM y|EEEE, d MMMM y
        en-AT<en-001|9|,|.|-|3|3|1|0|AD
        en-BE<en-001|9|,|.|-|3|3|1|0|AD
        1:dd/MM/yy|dd MMM y|d MMMM y|EEEE, d MMMM y
        en-BW<en-001|9|.|,|-|3|3|1|0|AD
        1:dd/MM/yy|dd MMM y|dd MMMM y|EEEE, dd MMMM y
        en-BZ<en-001|9|.|,|-|3|3|1|0|AD
        1:dd/MM/yy|dd-MMM-y|dd MMMM y|EEEE, dd MMMM y
        en-CH<en-001|9|.|’|-|3|3|1|0|AD
        1:dd.MM.y|d MMM y|d MMMM y|EEEE, d MMMM y
        en-CZ<en-001|9|,| |-|3|3|1|0|AD
        en-DE<en-001|9|,|.|-|3|3|1|0|AD
        en-DK<en-001|9|,|.|-|3|3|1|0|AD
        en-Dsrt<en|9|.|,|-|3|3|1|0|𐐈𐐔
        1:y-MM-dd|y MMM d|y MMMM d|y MMMM d, EEEE
        2:𐐖𐐰𐑌𐐷𐐭𐐯𐑉𐐨|𐐙𐐯𐐺𐑉𐐭𐐯𐑉𐐨|𐐣𐐪𐑉𐐽|𐐁𐐹𐑉𐐮𐑊|𐐣𐐩|𐐖𐐭𐑌|𐐖𐐭𐑊𐐴|𐐂𐑀𐐲𐑅𐐻|𐐝𐐯𐐹𐐻𐐯𐑋𐐺𐐲𐑉|𐐉𐐿𐐻𐐬𐐺𐐲𐑉|𐐤𐐬𐑂𐐯𐑋𐐺𐐲𐑉|𐐔𐐨𐑅𐐯𐑋𐐺𐐲𐑉
        4:𐐖𐐰𐑌|𐐙𐐯𐐺|𐐣𐐪𐑉|𐐁𐐹𐑉|𐐣𐐩|𐐖𐐭𐑌|𐐖𐐭𐑊|𐐂𐑀|𐐝𐐯𐐹|𐐉𐐿𐐻|𐐤𐐬𐑂|𐐔𐐨𐑅
        6:𐐝𐐲𐑌𐐼𐐩|𐐣𐐲𐑌𐐼𐐩|𐐓𐐭𐑆𐐼𐐩|𐐎𐐯𐑌𐑆𐐼𐐩|𐐛𐐲𐑉𐑆𐐼𐐩|𐐙𐑉𐐴𐐼𐐩|𐐝𐐰𐐻𐐲𐑉𐐼𐐩
        8:𐐝𐐲𐑌|𐐣𐐲𐑌|𐐓𐐭𐑆|𐐎𐐯𐑌|𐐛𐐲𐑉|𐐙𐑉𐐴|𐐝𐐰𐐻
        10:𐐈𐐣|𐐑𐐣
        en-Dsrt-US<en|9|.|,|-|3|3|1|0|𐐈𐐔
        1:y-MM-dd|y MMM d|y MMMM d|y MMMM d, EEEE
        2:𐐖𐐰𐑌𐐷𐐭𐐯𐑉𐐨|𐐙𐐯𐐺𐑉𐐭𐐯𐑉𐐨|𐐣𐐪𐑉𐐽|𐐁𐐹𐑉𐐮𐑊|𐐣𐐩|𐐖𐐭𐑌|𐐖𐐭𐑊𐐴|𐐂𐑀𐐲𐑅𐐻|𐐝𐐯𐐹𐐻𐐯𐑋𐐺𐐲𐑉|𐐉𐐿𐐻𐐬𐐺𐐲𐑉|𐐤𐐬𐑂𐐯𐑋𐐺𐐲𐑉|𐐔𐐨𐑅𐐯𐑋𐐺𐐲𐑉
        4:𐐖𐐰𐑌|𐐙𐐯𐐺|𐐣𐐪𐑉|𐐁𐐹𐑉|𐐣𐐩|𐐖𐐭𐑌|𐐖𐐭𐑊|𐐂𐑀|𐐝𐐯𐐹|𐐉𐐿𐐻|𐐤𐐬𐑂|𐐔𐐨𐑅
        6:𐐝𐐲𐑌𐐼𐐩|𐐣𐐲𐑌𐐼𐐩|𐐓𐐭𐑆𐐼𐐩|𐐎𐐯𐑌𐑆𐐼𐐩|𐐛𐐲𐑉𐑆𐐼𐐩|𐐙𐑉𐐴𐐼𐐩|𐐝𐐰𐐻𐐲𐑉𐐼𐐩
        8:𐐝𐐲𐑌|𐐣𐐲𐑌|𐐓𐐭𐑆|𐐎𐐯𐑌|𐐛𐐲𐑉|𐐙𐑉𐐴|𐐝𐐰𐐻
        10:𐐈𐐣|𐐑𐐣
        en-ES<en-001|9|,|.|-|3|3|1|0|AD
        en-FI<en-001|9|,| |-|3|3|1|0|AD
        en-FR<en-001|9|,| |-|3|3|1|0|AD
        en-HK<en-001|9|.|,|-|3|3|1|0|AD
        1:d/M/y|d MMM y|d MMMM y|EEEE, d MMMM y
        en-HU<en-001|9|,| |-|3|3|1|0|AD
        en-ID<en-001|9|,|.|-|3|3|1|0|AD
        en-IE<en-001|9|.|,|-|3|3|1|0|AD
        1:dd/MM/y|d MMM y|d MMMM y|EEEE d MMMM y
        en-IT<en-001|9|,|.|-|3|3|1|0|AD
        en-JM<en-001|9|.|,|-|3|3|1|0|AD
        1:d/M/yy|d MMM y|d MMMM y|EEEE, d MMMM y
        en-MT<en-001|9|.|,|-|3|3|1|0|AD
        1:dd/MM/y|dd MMM y|dd MMMM y|EEEE, d MMMM y
        en-MV<en-001|9|.|,|-|3|3|1|0|AD
        1:d-M-yy|dd-MM-y|d MMMM y|EEEE d MMMM y
        en-NL<en-001|9|,|.|-|3|3|1|0|AD
        en-NO<en-001|9|,| |-|3|3|1|0|AD
        en-PK<en-001|9|.|,|-|3|3|1|0|AD
        1:dd/MM/y|dd-MMM-y|d MMMM y|EEEE, d MMMM y
        en-PL<en-001|9|,|.|-|3|3|1|0|AD
        en-PT<en-001|9|,| |-|3|3|1|0|AD
        en-RO<en-001|9|,|.|-|3|3|1|0|AD
        en-SE<en-001|9|,| |-|3|3|1|0|AD
        1:y-MM-dd|d MMM y|d MMMM y|EEEE, d MMMM y
        en-SG<en-001|9|.|,|-|3|3|1|0|AD
        1:d/M/yy|d MMM y|d MMMM y|EEEE, d MMMM y
        en-SI<en-001|9|,|.|-|3|3|1|0|AD
        en-SK<en-001|9|,| |-|3|3|1|0|AD
        en-Shaw<en|9|.|,|-|3|3|1|0|𐑨𐑛
        1:y-MM-dd|y MMM d|y MMMM d|y MMMM d, EEEE
        2:·𐑡𐑨𐑙𐑘𐑭𐑢𐑺𐑰|·𐑓𐑧𐑚𐑘𐑵𐑢𐑺𐑰|·𐑥𐑸𐑗|·𐑱𐑐𐑮𐑭𐑤|·𐑥𐑱|·𐑡𐑵𐑯|·𐑡𐑫𐑤𐑲|·𐑪𐑜𐑭𐑕𐑑|·𐑕𐑧𐑐𐑑𐑧𐑥𐑚𐑸|·𐑷𐑒𐑑𐑴𐑚𐑸|·𐑯𐑴𐑝𐑧𐑥𐑚𐑸|·𐑛𐑭𐑕𐑧𐑥𐑚𐑸
        4:·𐑡𐑨|·𐑓𐑧|·𐑥𐑸|·𐑱𐑐|·𐑥𐑱|·𐑡𐑵|·𐑡𐑫|·𐑪𐑜|·𐑕𐑧|·𐑷𐑒|·𐑯𐑴|·𐑛𐑭
        6:·𐑕𐑭𐑙𐑛𐑱|·𐑥𐑭𐑙𐑛𐑱|·𐑑𐑵𐑟𐑛𐑱|·𐑢𐑧𐑙𐑟𐑛𐑱|·𐑔𐑻𐑟𐑛𐑱|·𐑓𐑮𐑲𐑛𐑱|·𐑕𐑨𐑛𐑻𐑛𐑱
        8:·𐑕𐑭|·𐑥𐑭|·𐑑𐑵|·𐑢𐑧|·𐑔𐑻|·𐑓𐑮|·𐑕𐑨
        10:𐑨𐑥|𐑐𐑥
        en-Shaw-GB<en|9|.|,|-|3|3|1|0|𐑨𐑛
        1:y-MM-dd|y MMM d|y MMMM d|y MMMM d, EEEE
        2:·𐑡𐑨𐑙𐑘𐑭𐑢𐑺𐑰|·𐑓𐑧𐑚𐑘𐑵𐑢𐑺𐑰|·𐑥𐑸𐑗|·𐑱𐑐𐑮𐑭𐑤|·𐑥𐑱|·𐑡𐑵𐑯|·𐑡𐑫𐑤𐑲|·𐑪𐑜𐑭𐑕𐑑|·𐑕𐑧𐑐𐑑𐑧𐑥𐑚𐑸|·𐑷𐑒𐑑𐑴𐑚𐑸|·𐑯𐑴𐑝𐑧𐑥𐑚𐑸|·𐑛𐑭𐑕𐑧𐑥𐑚𐑸
        4:·𐑡𐑨|·𐑓𐑧|·𐑥𐑸|·𐑱𐑐|·𐑥𐑱|·𐑡𐑵|·𐑡𐑫|·𐑪𐑜|·𐑕𐑧|·𐑷𐑒|·𐑯𐑴|·𐑛𐑭
        6:·𐑕𐑭𐑙𐑛𐑱|·𐑥𐑭𐑙𐑛𐑱|·𐑑𐑵𐑟𐑛𐑱|·𐑢𐑧𐑙𐑟𐑛𐑱|·𐑔𐑻𐑟𐑛𐑱|·𐑓𐑮𐑲𐑛𐑱|·𐑕𐑨𐑛𐑻𐑛𐑱
        8:·𐑕𐑭|·𐑥𐑭|·𐑑𐑵|·𐑢𐑧|·𐑔𐑻|·𐑓𐑮|·𐑕𐑨
        10:𐑨𐑥|𐑐𐑥
        en-ZA<en-001|9|,| |-|3|3|1|0|AD
        1:y/MM/dd|dd MMM y|dd MMMM y|EEEE, dd MMMM y
        en-ZW<en-001|9|.|,|-|3|3|1|0|AD
        1:d/M/y|dd MMM,y|dd MMMM y|EEEE, dd MMMM y
        es-AR<es-419|10|,|.|-|3|3|1|0|d.C.
        10:a. m.|p. m.
        es-BO<es-419|10|,|.|-|3|3|1|0|d.C.
        1:d/M/yy|d MMM 'de' y|d 'de' MMMM 'de' y|EEEE, d 'de' MMMM 'de' y
        10:a. m.|p. m.
        es-CL<es-419|10|,|.|-|3|3|1|0|d.C.
        1:dd-MM-yy|dd-MM-y|d 'de' MMMM 'de' y|EEEE, d 'de' MMMM 'de' y
        5:ene.|feb.|mar.|abr.|may.|jun.|jul.|ago.|sept.|oct.|nov.|dic.
        10:a. m.|p. m.
        es-CO<es-419|10|,|.|-|3|3|1|0|d.C.
        1:d/MM/yy|d/MM/y|d 'de' MMMM 'de' y|EEEE, d 'de' MMMM 'de' y
        5:ene.|feb.|mar.|abr.|may.|jun.|jul.|ago.|sept.|oct.|nov.|dic.
        10:a. m.|p. m.
        es-CR<es-419|10|,| |-|3|3|1|0|d.C.
        10:a. m.|p. m.
        es-DO<es-419|10|.|,|-|3|3|1|0|d.C.
        10:a. m.|p. m.
        es-EC<es-419|10|,|.|-|3|3|1|0|d.C.
        10:a. m.|p. m.
        es-GT<es-419|10|.|,|-|3|3|1|0|d.C.
        1:d/MM/yy|d/MM/y|d 'de' MMMM 'de' y|EEEE, d 'de' MMMM 'de' y
        10:a. m.|p. m.
        es-HN<es-419|10|.|,|-|3|3|1|0|d.C.
        1:d/M/yy|d MMM y|dd 'de' MMMM 'de' y|EEEE dd 'de' MMMM 'de' y
        10:a. m.|p. m.
        es-NI<es-419|10|.|,|-|3|3|1|0|d.C.
        10:a. m.|p. m.
        es-PA<es-419|10|.|,|-|3|3|1|0|d.C.
        1:MM/dd/yy|MM/dd/y|d 'de' MMMM 'de' y|EEEE, d 'de' MMMM 'de' y
        10:a. m.|p. m.
        es-PE<es-419|10|.|,|-|3|3|1|0|d.C.
        1:d/MM/yy|d MMM y|d 'de' MMMM 'de' y|EEEE, d 'de' MMMM 'de' y
        2:enero|febrero|marzo|abril|mayo|junio|julio|agosto|setiembre|octubre|noviembre|diciembre
        3:Enero|Febrero|Marzo|Abril|Mayo|Junio|Julio|Agosto|Setiembre|Octubre|Noviembre|Diciembre
        4:ene.|feb.|mar.|abr.|may.|jun.|jul.|ago.|set.|oct.|nov.|dic.
        5:Ene.|Feb.|Mar.|Abr.|May.|Jun.|Jul.|Ago.|Set.|Oct.|Nov.|Dic.
        10:a. m.|p. m.
        es-PR<es-419|10|.|,|-|3|3|1|0|d.C.
        1:MM/dd/yy|MM/dd/y|d 'de' MMMM 'de' y|EEEE, d 'de' MMMM 'de' y
        10:a. m.|p. m.
        es-PY<es-419|10|,|.|-|3|3|1|0|d.C.
        4:ene.|feb.|mar.|abr.|may.|jun.|jul.|ago.|sept.|oct.|nov.|dic.
        10:a. m.|p. m.
        es-SV<es-419|10|.|,|-|3|3|1|0|d.C.
        10:a. m.|p. m.
        es-UY<es-419|10|,|.|-|3|3|1|0|d.C.
        2:enero|febrero|marzo|abril|mayo|junio|julio|agosto|setiembre|octubre|noviembre|diciembre
        3:Enero|Febrero|Marzo|Abril|Mayo|Junio|Julio|Agosto|Setiembre|Octubre|Noviembre|Diciembre
        4:ene.|feb.|mar.|abr.|may.|jun.|jul.|ago.|set.|oct.|nov.|dic.
        5:Ene.|Feb.|Mar.|Abr.|May.|Jun.|Jul.|Ago.|Set.|Oct.|Nov.|Dic.
        10:a. m.|p. m.
        es-VE<es-419|10|,|.|-|3|3|1|0|d.C.
        4:ene.|feb.|mar.|abr.|may.|jun.|jul.|ago.|sept.|oct.|nov.|dic.
        10:a. m.|p. m.
        fa-AF<fa|1|٫|٬|‎−|3|3|1|۰|م.
        2:جنوری|فبروری|مارچ|اپریل|می|جون|جولای|اگست|سپتمبر|اکتوبر|نومبر|دسمبر
        3:
        4:جنو|فبروری|مارچ|اپریل|می|جون|جول|اگست|سپتمبر|اکتوبر|نومبر|دسم
        5:جنوری|فبروری|مارچ|اپریل|می|جون|جولای|اگست|سپتمبر|اکتوبر|نومبر|دسمبر
        fr-BE<fr|12|,| |-|3|3|1|0|ap. J.-C.
        1:d/MM/yy|d MMM y|d MMMM y|EEEE d MMMM y
        fr-CM<fr|12|,| |-|3|3|1|0|ap. J.-C.
        10:mat.|soir
        fr-LU<fr|12|,|.|-|3|3|1|0|ap. J.-C.
        fr-MA<fr|12|,| |-|3|3|1|0|ap. J.-C.
        4:jan.|fév.|mar.|avr.|mai|jui.|juil.|août|sept.|oct.|nov.|déc.
        hi-Latn<en-IN|1|.|,|-|3|2|1|0|AD
        1:dd/MM/y|dd MMM, y|d MMMM, y|EEEE, d MMMM y
        4:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec
        5:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept|Oct|Nov|Dec
        6:Raviwaar|Somwaar|Mangalwaar|Budhwaar|Guruwaar|Shukrawaar|Shaniwaar
        8:Ravi|Som|Mangal|Budh|Guru|Shukra|Shani
        10:AM|PM
        hi-Latn-IN<en-IN|1|.|,|-|3|2|1|0|AD
        1:dd/MM/y|dd MMM, y|d MMMM, y|EEEE, d MMMM y
        4:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec
        5:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept|Oct|Nov|Dec
        6:Raviwaar|Somwaar|Mangalwaar|Budhwaar|Guruwaar|Shukrawaar|Shaniwaar
        8:Ravi|Som|Mangal|Budh|Guru|Shukra|Shani
        10:AM|PM
        hr-BA<hr|4|,|.|−|3|3|1|0|po. Kr.
        1:d. M. yy.|d. MMM y.|d. MMMM y.|EEEE, d. MMMM y.
        kk-Arab<kk|0|.|,|-|3|3|1|0|ب ز
        1:dd-MM-y|d-MMM، y|d-MMMM، y|y d-MMMM، EEEE
        2:قاڭتار|اقپان|ناۋرىز|ءساۋىر|مامىر|ماۋسىم|شىلدە|تامىز|قىركۇيەك|قازان|قاراشا|جەلتوقسان
        3:
        4:قاڭتار|اقپان|ناۋرىز|ءساۋىر|مامىر|ماۋسىم|شىلدە|تامىز|قىركۇيەك|قازان|قاراشا|جەلتوقسان
        6:جەكسەنبى|دۇيسەنبى|سەيسەنبى|سارسەنبى|بەيسەنبى|جۇما|سەنبى
        8:جەك|دۇي|سەي|سار|بەي|جۇم|سەن
        10:ت د|ت ك
        kk-Arab-CN<kk|0|.|,|-|3|3|1|0|ب ز
        1:dd-MM-y|d-MMM، y|d-MMMM، y|y d-MMMM، EEEE
        2:قاڭتار|اقپان|ناۋرىز|ءساۋىر|مامىر|ماۋسىم|شىلدە|تامىز|قىركۇيەك|قازان|قاراشا|جەلتوقسان
        3:
        4:قاڭتار|اقپان|ناۋرىز|ءساۋىر|مامىر|ماۋسىم|شىلدە|تامىز|قىركۇيەك|قازان|قاراشا|جەلتوقسان
        6:جەكسەنبى|دۇيسەنبى|سەيسەنبى|سارسەنبى|بەيسەنبى|جۇما|سەنبى
        8:جەك|دۇي|سەي|سار|بەي|جۇم|سەن
        10:ت د|ت ك
        mn-Mong-MN<mn|0|.|,|-|3|3|1|0|ᠮ᠂ ᠡ
        1:y.MM.dd|y.MM.dd|y ᠋ᠣᠨ ᠤMMMM᠎᠎ ᠤᠩ d|y ᠣᠨ ᠎᠎᠎ᠤ MMMM᠎᠎ᠢᠢᠨd. EEEE ᠋ᠭᠠᠷᠠᠭ
        2:ᠨᠢᠭᠡᠳᠥᠭᠡᠷ ᠰᠠᠷ᠎ᠠ|ᠬᠣᠶᠠᠳᠣᠭᠠᠷ ᠰᠠᠷ ᠠ|ᠭᠣᠷᠪᠡᠳᠣᠭᠠᠷ ᠰᠠᠷ ᠠ|ᠳᠥᠷᠪᠡᠳᠥᠭᠡᠷ ᠰᠠᠷ᠎ᠠ|ᠲᠠᠪᠣᠳᠣᠭᠠᠷ ᠰᠠᠷ ᠠ|ᠵᠢᠷᠭᠣᠭᠠᠳᠣᠭᠠᠷ ᠰᠠᠷ᠎ᠠ|ᠲᠣᠯᠣᠭᠠᠳᠣᠭᠠᠷ ᠰᠠᠷ᠎ᠠ|ᠨᠠᠢᠮᠠᠳᠥᠭᠠᠷ ᠰᠠᠷ᠎ᠠ|ᠶᠢᠰᠥᠳᠥᠭᠡᠷ ᠰᠠᠷ᠎ᠠ|ᠠᠷᠪᠠᠳᠣᠭᠠᠷ ᠰᠠᠷ᠎ᠠ|ᠠᠷᠪᠠᠨ ᠨᠢᠭᠡᠳᠥᠭᠡᠷ ᠰᠠᠷ᠎ᠠ|ᠠᠷᠪᠠᠨ ᠬᠣᠶᠠᠳᠣᠭᠠᠷ ᠰᠠᠷ᠎ᠠ
        3:
        4:1 ᠊ᠷ ᠰᠠᠷ᠎ᠠ|2 ᠊ᠷ ᠰᠠᠷ᠎ᠠ|3᠊ᠷ ᠰᠠᠷ᠎ᠠ|4 ᠊ᠷ ᠰᠠᠷ᠎ᠠ|5 ᠊ᠷ ᠰᠠᠷ᠎ᠠ|6 ᠊ᠷ ᠰᠠᠷ᠎ᠠ|7 ᠊ᠷ ᠰᠠᠷ᠎ᠠ|8᠊ᠷ ᠰᠠᠷ᠎ᠠ|9 ᠊ᠷ ᠰᠠᠷ᠎ᠠ|10 ᠊ᠷ ᠰᠠᠷ᠎ᠠ|11 ᠊ᠷ ᠰᠠᠷ᠎ᠠ|12 ᠊ᠷ ᠰᠠᠷ᠎ᠠ
        5:1 ᠊ᠷ ᠰᠠᠷ᠎ᠠ|2 ᠊ᠷ ᠰᠠᠷ᠎ᠠ|3᠊ᠷ ᠰᠠᠷ᠎ᠠ|4 ᠊ᠷ ᠰᠠᠷ᠎ᠠ|5 ᠊ᠷ ᠰᠠᠷ᠎ᠠ|6 ᠊ᠷ ᠰᠠᠷ᠎ᠠ|7 ᠊ᠷ ᠰᠠᠷ᠎ᠠ|8 ᠊ᠷ ᠰᠠᠷ᠎ᠠ|9 ᠊ᠷ ᠰᠠᠷ᠎ᠠ|10 ᠊ᠷ ᠰᠠᠷ᠎ᠠ|11᠊ᠷ ᠰᠠᠷ᠎ᠠ|12᠊ᠷ ᠰᠠᠷ᠎ᠠ
        6:ᠨᠢᠮ᠎ᠠ|ᠳᠠᠸᠠ|ᠮᠢᠠᠠᠮᠠᠷ|ᡀᠠᠭᠪᠠ|ᠫᠦᠷᠪᠦ|ᠪᠠᠰᠠᠩ|ᠪᠢᠮᠪᠠ
        7:
        8:ᠨᠢ|ᠲᠠ|ᠮᠢᠭ|ᡀᠠ|ᠫᠥᠷ|ᠪᠠ|ᠪᠢᠮ
        9:ᠨᠢ|ᠳᠠ|ᠮᠢᠭ|ᡀᠠ|ᠫᠦᠷ|ᠪᠠ|ᠪᠢᠮ
        10:AM|PM
        ms-Arab<ms|16|.|,|-|3|3|1|0|CE
        1:d/MM/yy|dd/MM/y|d MMMM y|EEEE، d MMMM y
        2:جانواري|فيبواري|مچ|اڤريل|مي|جون|جولاي|ݢوس|سيڤتيمبر|اوکتوبر|نوۏيمبر|ديسيمبر
        4:جانواري|فيبواري|مچ|اڤريل|مي|جون|جولاي|ݢوس|سيڤتيمبر|اوکتوبر|نوۏيمبر|ديسيمبر
        6:احد|اثنين|ثلاث|رابو|خميس|جمعة|سبتو
        8:احد|اثنين|ثلاث|رابو|خميس|جمعة|سبتو
        10:AM|PM
        ms-Arab-BN<ms|16|,|.|-|3|3|1|0|CE
        1:d/MM/yy|dd/MM/y|d MMMM y|dd MMMM y
        2:جانواري|فيبواري|مچ|اڤريل|مي|جون|جولاي|ݢوس|سيڤتيمبر|اوکتوبر|نوۏيمبر|ديسيمبر
        4:جانواري|فيبواري|مچ|اڤريل|مي|جون|جولاي|ݢوس|سيڤتيمبر|اوکتوبر|نوۏيمبر|ديسيمبر
        6:احد|اثنين|ثلاث|رابو|خميس|جمعة|سبتو
        8:احد|اثنين|ثلاث|رابو|خميس|جمعة|سبتو
        10:AM|PM
        ms-Arab-MY<ms|16|.|,|-|3|3|1|0|CE
        1:d/MM/yy|dd/MM/y|d MMMM y|EEEE، d MMMM y
        2:جانواري|فيبواري|مچ|اڤريل|مي|جون|جولاي|ݢوس|سيڤتيمبر|اوکتوبر|نوۏيمبر|ديسيمبر
        4:جانواري|فيبواري|مچ|اڤريل|مي|جون|جولاي|ݢوس|سيڤتيمبر|اوکتوبر|نوۏيمبر|ديسيمبر
        6:احد|اثنين|ثلاث|رابو|خميس|جمعة|سبتو
        8:احد|اثنين|ثلاث|رابو|خميس|جمعة|سبتو
        10:AM|PM
        ms-BN<ms|16|,|.|-|3|3|1|0|TM
        1:d/MM/yy|d MMM y|d MMMM y|dd MMMM y
        ms-ID<ms|16|,|.|-|3|3|1|0|TM
        1:dd/MM/yy|d MMM y|d MMMM y|EEEE, dd MMMM y
        nl-BE<nl|9|,|.|-|3|3|1|0|n.Chr.
        1:d/MM/y|d MMM y|d MMMM y|EEEE d MMMM y
        pa-Arab<pa|21|٫|٬|‎-‎|3|3|1|۰|سں
        1:dd/MM/y|d MMM y|d MMMM y|EEEE, dd MMMM y
        2:جنوری|فروری|مارچ|اپریل|مئ|جون|جولائی|اگست|ستمبر|اکتوبر|نومبر|دسمبر
        4:جنوری|فروری|مارچ|اپریل|مئ|جون|جولائی|اگست|ستمبر|اکتوبر|نومبر|دسمبر
        6:اتوار|پیر|منگل|بُدھ|جمعرات|جمعہ|ہفتہ
        8:اتوار|پیر|منگل|بُدھ|جمعرات|جمعہ|ہفتہ
        10:AM|PM
        pa-Arab-PK<pa|21|٫|٬|‎-‎|3|3|1|۰|سں
        1:dd/MM/y|d MMM y|d MMMM y|EEEE, dd MMMM y
        2:جنوری|فروری|مارچ|اپریل|مئ|جون|جولائی|اگست|ستمبر|اکتوبر|نومبر|دسمبر
        4:جنوری|فروری|مارچ|اپریل|مئ|جون|جولائی|اگست|ستمبر|اکتوبر|نومبر|دسمبر
        6:اتوار|پیر|منگل|بُدھ|جمعرات|جمعہ|ہفتہ
        8:اتوار|پیر|منگل|بُدھ|جمعرات|جمعہ|ہفتہ
        10:AM|PM
        pt-AO<pt-PT|5|,| |-|3|3|1|0|E.C.
        ro-MD<ro|24|,|.|-|3|3|1|0|d.Hr.
        8:Dum|Lun|Mar|Mie|Joi|Vin|Sâm
        ru-UA<ru|25|,| |-|3|3|2|0|н. э.
        sr-Cyrl-BA<sr|4|,|.|-|3|3|1|0|н. е.
        6:недјеља|понедјељак|уторак|сриједа|четвртак|петак|субота
        8:нед|пон|уто|сри|чет|пет|суб
        10:прије подне|по подне
        sr-Cyrl-ME<sr|4|,|.|-|3|3|1|0|н. е.
        4:јан|феб|март|апр|мај|јун|јул|авг|септ|окт|нов|дец
        6:недјеља|понедељак|уторак|сриједа|четвртак|петак|субота
        10:прије подне|по подне
        sr-Cyrl-XK<sr|4|,|.|-|3|3|1|0|н. е.
        4:јан|феб|март|апр|мај|јун|јул|авг|септ|окт|нов|дец
        sr-Latn-BA<sr-Latn|4|,|.|-|3|3|1|0|n. e.
        6:nedjelja|ponedjeljak|utorak|srijeda|četvrtak|petak|subota
        8:ned|pon|uto|sri|čet|pet|sub
        10:prije podne|po podne
        sr-Latn-ME<sr-Latn|4|,|.|-|3|3|1|0|n. e.
        4:jan|feb|mart|apr|maj|jun|jul|avg|sept|okt|nov|dec
        6:nedjelja|ponedeljak|utorak|srijeda|četvrtak|petak|subota
        10:prije podne|po podne
        sr-Latn-XK<sr-Latn|4|,|.|-|3|3|1|0|n. e.
        4:jan|feb|mart|apr|maj|jun|jul|avg|sept|okt|nov|dec
        sw-CD<sw|9|,|.|-|3|3|1|0|BK
        ta-MY<ta|0|.|,|-|3|3|1|0|கி.பி.
        ta-SG<ta|0|.|,|-|3|3|1|0|கி.பி.
        ur-IN<ur|9|٫|٬|‎-‎|3|3|1|۰|عیسوی
        uz-Arab<uz|0|٫|٬|‎-‎|3|3|1|۰|م.
        1:y/M/d|d MMM y|d نچی MMMM y|y نچی ییل d نچی MMMM EEEE کونی
        2:جنوری|فبروری|مارچ|اپریل|می|جون|جولای|اگست|سپتمبر|اکتوبر|نومبر|دسمبر
        3:
        4:جنو|فبر|مار|اپر|می|جون|جول|اگس|سپت|اکت|نوم|دسم
        5:
        6:یکشنبه|دوشنبه|سه‌شنبه|چهارشنبه|پنجشنبه|جمعه|شنبه
        8:ی.|د.|س.|چ.|پ.|ج.|ش.
        10:AM|PM
        uz-Arab-AF<uz|0|٫|٬|‎-‎|3|3|1|۰|م.
        1:y/M/d|d MMM y|d نچی MMMM y|y نچی ییل d نچی MMMM EEEE کونی
        2:جنوری|فبروری|مارچ|اپریل|می|جون|جولای|اگست|سپتمبر|اکتوبر|نومبر|دسمبر
        3:
        4:جنو|فبر|مار|اپر|می|جون|جول|اگس|سپت|اکت|نوم|دسم
        5:
        6:یکشنبه|دوشنبه|سه‌شنبه|چهارشنبه|پنجشنبه|جمعه|شنبه
        8:ی.|د.|س.|چ.|پ.|ج.|ش.
        10:AM|PM
        uz-Cyrl<uz|0|,| |-|3|3|1|0|милодий
        1:dd/MM/yy|d MMM, y|d MMMM, y|EEEE, dd MMMM, y
        2:январ|феврал|март|апрел|май|июн|июл|август|сентябр|октябр|ноябр|декабр
        3:
        4:янв|фев|мар|апр|май|июн|июл|авг|сен|окт|ноя|дек
        5:
        6:якшанба|душанба|сешанба|чоршанба|пайшанба|жума|шанба
        8:якш|душ|сеш|чор|пай|жум|шан
        10:ТО|ТК
        uz-Cyrl-UZ<uz|0|,| |-|3|3|1|0|милодий
        1:dd/MM/yy|d MMM, y|d MMMM, y|EEEE, dd MMMM, y
        2:январ|феврал|март|апрел|май|июн|июл|август|сентябр|октябр|ноябр|декабр
        3:
        4:янв|фев|мар|апр|май|июн|июл|авг|сен|окт|ноя|дек
        5:
        6:якшанба|душанба|сешанба|чоршанба|пайшанба|жума|шанба
        8:якш|душ|сеш|чор|пай|жум|шан
        10:ТО|ТК
        zh-Hans-HK<zh|16|.|,|-|3|3|1|0|公元
        1:d/M/yy|y年M月d日|y年M月d日|y年M月d日EEEE
        zh-Hans-MO<zh|16|.|,|-|3|3|1|0|公元
        1:d/M/yy|y年M月d日|y年M月d日|y年M月d日EEEE
        zh-Hans-SG<zh|16|.|,|-|3|3|1|0|公元
        1:dd/MM/yy|y年M月d日|y年M月d日|y年M月d日EEEE
        """
}
