import Base
import Cryptography
import Foundation
import TestCommands
import Testing

/// The output of check and preview for an app with two services.
@Suite("warnings about the services of an app")
struct SeveralServicesWarningTests {
    private let byPlatform = "{service: {column: platform, map: {ios: apns, android: fcm}}}"

    @Test("a service that reaches nobody of an audience is named, with what its devices would be")
    func withoutDevices() throws {
        let rows = "token,platform\n\(ProjectFolder.token(1)),ios\n\(ProjectFolder.registration(2)),Droid\n"
        let shop = try ProjectFolder.ofTwoServices(rows, columns: byPlatform)
        let preview = try shop.preview()
        #expect(
            preview.errors.contains(
                "volley.yaml:7:7: warning: no device of the audience is reached through FCM. Its devices are rows with 'android' in the column "
                    + "'platform' and a registration token in the column 'token' or 'device_token'; if these are in another, name it in "
                    + "volley.yaml: columns: {fcm_token: NAME}. If the audience has no such devices, allow the warning in the campaign. "
                    + "[service-without-devices]"),
            "\(preview)")
        let unmapped = try ProjectFolder.ofTwoServices(rows, columns: "{service: {column: platform, map: {ios: apns}}}")
            .preview()
        #expect(
            unmapped.errors.contains(
                "In the map of the column 'platform' no cell stands for FCM: write the one that its devices have, `CELL: fcm`."
            ),
            "\(unmapped)")
        // The targets are in a column that volley.yaml does not name.
        try shop.write(
            "devices.csv",
            "token,fcm_token,platform\n\(ProjectFolder.token(1)),,ios\n,\(ProjectFolder.registration(2)),android\n")
        let elsewhere = try shop.preview()
        #expect(
            elsewhere.output.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains(
                "those of FCM are read from the column 'token' or 'device_token', unless volley.yaml names another: columns: {fcm_token: NAME}"
            ),
            "\(elsewhere)")
        try shop.write("devices.csv", rows.replacing("Droid", with: "android"))
        #expect(try shop.preview().errors.contains("service-without-devices") == false)
        // A separate column that is all blank, and no column: one warning for each.
        let own = try ProjectFolder.ofTwoServices(
            "token,fcm_token\n\(ProjectFolder.token(1)),\n", columns: "{tags: labels}")
        let blank = try own.preview()
        #expect(blank.errors.contains("rows with a registration token in the column 'fcm_token'. If"), "\(blank)")
        try own.write("devices.csv", "token,fcmToken\n\(ProjectFolder.token(1)),\(ProjectFolder.registration(1))\n")
        for found in try [own.check(), own.preview()] {
            #expect(found.errors.contains("`columns: {fcm_token: fcmToken}`. [column-not-found]"), "\(found)")
            #expect(!found.errors.contains("service-without-devices"), "\(found)")
        }
    }

    @Test("a user whom a row names beside a device's token is not pushed to a second time; preview and --why say so")
    func users() throws {
        let shop = try ProjectFolder(
            export:
                "token,rongcloud_user_id,last_active\n\(ProjectFolder.token(1)),anna,2026-11-01\n,anna,2026-11-02\n,bert,2026-11-02\n"
        )
        try shop.write(
            "volley.yaml",
            """
            runs: runs
            apps:
              shop:
                topic: com.example.shop
                environment: simulator
                services: {rongcloud: {app_key: e0x9wycfx7flq, environment: simulator}}
            """)
        try shop.writeCampaign()
        let preview = try shop.preview()
        #expect(
            preview.output.replacing(/\s+/, with: " ").contains(
                "another row has this user ID beside the target of a device, which stands for the person; RongCloud would push to that device a second time"
            ), "\(preview)")
        let json = try shop.preview(isJSON: true).json()
        #expect(json.int("audience") == 2 && json["skipped"]?.int("duplicate_token") == 1, "\(json)")
        let why = try shop.explain("anna").output.replacing(/\s+/, with: " ")
        #expect(
            why.contains("does not get test: duplicate_token")
                && why.contains(
                    "devices.csv:2 has this user ID beside a device token: the push goes there through APNs, so the user ID does not get it again"
                ),
            "\(why)")
    }

    @Test("a simulator beside production is warned of, and all simulators are not")
    func mixed() throws {
        let rows = "token,platform\n\(ProjectFolder.token(1)),ios\n\(ProjectFolder.registration(2)),android\n"
        #expect(
            try ProjectFolder.ofTwoServices(rows, columns: byPlatform).check().errors.contains(
                "simulator-and-production") == false)
        let key = "environment: production\n    key: {file: key.p8, id: ABC123DEFG, team: DEF123GHIJ}"
        let shop = try ProjectFolder.ofTwoServices(rows, columns: byPlatform, apns: key)
        try shop.write("key.p8", SigningKey.generate().pem)
        chmod(shop.url.appendingPathComponent("key.p8").path, 0o600)
        let check = try shop.check()
        #expect(
            check.errors.contains(
                "warning: pushes through FCM go to a simulator, but those through APNs to production, where they reach people. To rehearse, write "
                    + "environment: simulator for every service; to reach everyone, for none. [simulator-and-production]"
            ),
            "\(check)")
    }
}
