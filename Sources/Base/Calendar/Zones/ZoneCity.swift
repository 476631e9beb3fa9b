/// Large cities that are not zones of the tz database, which names one city for each area whose clocks agree.
enum ZoneCity {
    /// Zones by city, in lower-case letters with `_` for spaces.
    static let zones: [String: String] = {
        let cities = [
            "Asia/Shanghai": "beijing peking shenzhen guangzhou canton chengdu hangzhou wuhan nanjing tianjin xian suzhou china",
            "Asia/Kolkata": "mumbai bombay delhi new_delhi bangalore bengaluru chennai madras hyderabad pune ahmedabad india",
            "Asia/Tokyo": "osaka kyoto yokohama nagoya sapporo fukuoka japan", "Asia/Seoul": "busan incheon daegu korea",
            "Asia/Ho_Chi_Minh": "hanoi da_nang vietnam", "Asia/Karachi": "islamabad lahore pakistan", "Asia/Dubai": "abu_dhabi sharjah",
            "Asia/Riyadh": "jeddah mecca dammam", "Asia/Manila": "cebu davao", "Asia/Jakarta": "bandung surabaya",
            "Asia/Jerusalem": "haifa", "Europe/Istanbul": "ankara izmir turkey",
            "Europe/Berlin": "munich muenchen hamburg frankfurt cologne koeln stuttgart dusseldorf duesseldorf leipzig germany",
            "Europe/Paris": "lyon marseille nice toulouse bordeaux france",
            "Europe/Madrid": "barcelona valencia sevilla seville bilbao spain",
            "Europe/Rome": "milan milano naples napoli turin torino florence venice italy",
            "Europe/Zurich": "geneva basel bern lausanne switzerland",
            "Europe/London": "manchester edinburgh birmingham liverpool glasgow leeds england uk",
            "Europe/Amsterdam": "rotterdam the_hague utrecht eindhoven", "Europe/Brussels": "antwerp ghent",
            "Europe/Vienna": "graz salzburg linz",
            "Europe/Warsaw": "krakow wroclaw gdansk poznan", "Europe/Moscow": "st_petersburg saint_petersburg", "Europe/Lisbon": "porto",
            "Europe/Kyiv": "lviv odesa kharkiv", "Europe/Stockholm": "gothenburg malmo", "Europe/Oslo": "bergen trondheim",
            "America/New_York": "washington boston philadelphia miami atlanta orlando baltimore charlotte",
            "America/Chicago": "houston dallas austin san_antonio minneapolis new_orleans nashville memphis",
            "America/Los_Angeles": "san_francisco seattle san_diego las_vegas portland sacramento san_jose",
            "America/Denver": "salt_lake_city albuquerque", "America/Toronto": "ottawa quebec", "America/Edmonton": "calgary",
            "America/Sao_Paulo": "rio_de_janeiro rio brasilia belo_horizonte", "America/Bogota": "medellin cali",
            "America/Mexico_City": "guadalajara puebla", "America/Argentina/Buenos_Aires": "rosario", "America/Guayaquil": "quito",
            "Africa/Johannesburg": "cape_town durban pretoria", "Africa/Casablanca": "rabat marrakesh marrakech", "Africa/Lagos": "abuja",
            "Africa/Cairo": "alexandria giza", "Pacific/Auckland": "wellington christchurch",
        ]
        var zones: [String: String] = [:]
        for (zone, names) in cities { for name in names.split(separator: " ") { zones[String(name)] = zone } }
        return zones
    }()
}
