-- A run file of format 6, as it was written then: six devices of two services, which all got their push.
CREATE TABLE approval (                  -- the last one of the run's digest counts
    approved_by TEXT NOT NULL,
    approved_at INTEGER NOT NULL,
    digest TEXT NOT NULL
);
CREATE TABLE claim (                     -- committed before any of these recipients goes onto the wire
    first_id INTEGER PRIMARY KEY,
    last_id INTEGER NOT NULL,
    claimed_at INTEGER NOT NULL
);
INSERT INTO "claim" VALUES(0,2,1795747287877);
INSERT INTO "claim" VALUES(3,5,1795747287879);
CREATE TABLE figures (json TEXT NOT NULL);
INSERT INTO "figures" VALUES('{"outcomes":{"accepted":6,"invalid_token":0,"rejected":0,"failed":0,"unknown":0,"unsent":0},"reasons":{},"attempts":6,"unrecorded":[0,0],"attempted":6,"peak_per_second":6,"latency_ms":[0,3,3,3],"latency_histogram":[5,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"attempts_by_count":[[1,6]],"timeline":{"start":1795747287,"seconds_per_step":1,"steps":[[6,0,0,0,0]]},"groups":[["","",6,0,0,0,0,0]],"services":[{"outcomes":{"accepted":3,"invalid_token":0,"rejected":0,"failed":0,"unknown":0,"unsent":0},"reasons":{},"attempts":3,"unrecorded":[0,0],"attempted":3,"peak_per_second":3,"latency_ms":[0,3,3,3],"latency_histogram":[2,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"attempts_by_count":[[1,3]],"timeline":{"start":1795747287,"seconds_per_step":1,"steps":[[3,0,0,0,0]]},"groups":[["","",3,0,0,0,0,0]]},{"outcomes":{"accepted":3,"invalid_token":0,"rejected":0,"failed":0,"unknown":0,"unsent":0},"reasons":{},"attempts":3,"unrecorded":[0,0],"attempted":3,"peak_per_second":3,"latency_ms":[0,0,0,0],"latency_histogram":[3,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"attempts_by_count":[[1,3]],"timeline":{"start":1795747287,"seconds_per_step":1,"steps":[[3,0,0,0,0]]},"groups":[["","",3,0,0,0,0,0]]}]}');
CREATE TABLE invalid_since (recipient_id INTEGER PRIMARY KEY, invalid_since INTEGER NOT NULL);
CREATE TABLE leg (                       -- whose pushes which service takes, in sending order
    first_id INTEGER PRIMARY KEY,
    count INTEGER NOT NULL,
    service INTEGER NOT NULL             -- its place in run.settings: 0 is the service there, 1 the first of its "services"
);
INSERT INTO "leg" VALUES(0,3,0);
INSERT INTO "leg" VALUES(3,3,1);
CREATE TABLE leg_state (   -- what holds legs, or stopped them, while others go on
    first_id INTEGER PRIMARY KEY,
    held_until INTEGER,                  -- its service takes no pushes before then
    cause TEXT NOT NULL                  -- why it stopped: JSON, blank when it did not
);
CREATE TABLE life (life TEXT NOT NULL);
INSERT INTO "life" VALUES('1-10904aa57dada1b455f6e395f9476fc9');
CREATE TABLE outcome_block (             -- `outcome` and `result` show what is in it
    number INTEGER PRIMARY KEY,          -- of the recipients from number * 250 on
    slots BLOB NOT NULL                  -- 250 times 16 bytes, zeros where nothing is recorded
);
INSERT INTO "outcome_block" VALUES(0,X'10C8000000010000000301A21AE1135310C8000000010000000001A21AE1135310C8000000010000000001A21AE1135310C8000000010000000001A21AE1134D10C8000000010000000001A21AE1135310C8000000010000000001A21AE1135900000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000');
CREATE TABLE outcome_name (outcome INTEGER PRIMARY KEY, name TEXT NOT NULL);
INSERT INTO "outcome_name" VALUES(0,'accepted');
INSERT INTO "outcome_name" VALUES(1,'invalid_token');
INSERT INTO "outcome_name" VALUES(2,'rejected');
INSERT INTO "outcome_name" VALUES(3,'failed');
INSERT INTO "outcome_name" VALUES(4,'unknown');
INSERT INTO "outcome_name" VALUES(5,'unsent');
CREATE TABLE reason (number INTEGER PRIMARY KEY, reason TEXT NOT NULL UNIQUE);
CREATE TABLE recipient (
    id INTEGER PRIMARY KEY,              -- dense: 0, 1, 2, … in sending order
    device_token TEXT NOT NULL,
    registration_id TEXT NOT NULL,
    alias TEXT NOT NULL,
    language TEXT NOT NULL,
    variant TEXT NOT NULL,               -- blank when all get the same
    fields TEXT NOT NULL                 -- JSON array: the cells of the columns in run.fields
);
INSERT INTO "recipient" VALUES(0,'aa00000000000000000000000000000000000000000000000000000000000000','reg0','user0','','','[]');
INSERT INTO "recipient" VALUES(1,'aa00000000000000000000000000000000000000000000000000000000000001','reg1','user1','','','[]');
INSERT INTO "recipient" VALUES(2,'aa00000000000000000000000000000000000000000000000000000000000002','reg2','user2','','','[]');
INSERT INTO "recipient" VALUES(3,'fcm-token-xxxxxxxxxxxxxxxxxxxx:APA91b0yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy','reg3','user3','','','[]');
INSERT INTO "recipient" VALUES(4,'fcm-token-xxxxxxxxxxxxxxxxxxxx:APA91b1yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy','reg4','user4','','','[]');
INSERT INTO "recipient" VALUES(5,'fcm-token-xxxxxxxxxxxxxxxxxxxx:APA91b2yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy','reg5','user5','','','[]');
CREATE TABLE run (
    id TEXT NOT NULL, campaign TEXT NOT NULL, app TEXT NOT NULL,
    state TEXT NOT NULL,                 -- planned, running, paused, stopped, finished, cancelled
    stop_cause TEXT NOT NULL,            -- why it stopped: JSON, blank when it did not
    planned_at INTEGER NOT NULL, started_at INTEGER, finished_at INTEGER,
    rows INTEGER NOT NULL, audience INTEGER NOT NULL,
    skipped TEXT NOT NULL,               -- JSON object: rows by skip reason
    seed TEXT NOT NULL,                  -- 128 bits in hex, behind the id of every push
    plan_hash TEXT NOT NULL,
    fields TEXT NOT NULL,                -- JSON array of column names
    project_file TEXT NOT NULL, campaign_file TEXT NOT NULL, campaign_source TEXT NOT NULL,
    settings TEXT NOT NULL,              -- JSON: where to, how fast; secrets are named by file only
    preview TEXT NOT NULL,               -- JSON
    retry_of TEXT NOT NULL,              -- the run of which this one sends to some recipients again
    preview_text TEXT NOT NULL,          -- the preview as a person reads it
    is_test INTEGER NOT NULL,            -- 1: to the app's test devices, not to the audience
    recipients_digest TEXT NOT NULL,     -- of all rows of recipient, as they were planned
    digest TEXT NOT NULL                 -- SHA-256 of all that was planned: this row and recipients_digest
);
INSERT INTO "run" VALUES('20261201-090000-spring-sale-0006','spring-sale','shop','finished','',1795747287315,1795747287844,1795747287900,6,6,'{}','148c4c1ba61d4b23782ee1ac1d09ec32','4104b820f895644ac80dd5a318d4586b541a9a3064c3a7dc998dbbecb1c90529','[]','/x/volley.yaml','/x/spring.yaml','name: spring-sale
app: shop
audience: {everyone: true}
content: {title: Hello, body: World}
','{"environment":"simulator","topic":"com.example.shop","key":null,"certificate":null,"push_type":"alert","priority":10,"expires":null,"collapse":null,"pace":null,"app_pace":null,"unknown":"resend","stop_when":null,"schedule":null,"frequency":[],"approval":"none","rendering":5,"runs":"/x/runs","parent_life":null,"retried_outcomes":null,"campaign_file":"/x/spring.yaml","scheduler":false,"place":{"number":0,"life":""},"beside":[],"service":"apns","services":[{"service":"fcm","environment":"simulator","topic":"shop-1a2b","service_account":null,"pace":null,"app_pace":null,"unknown":"skip"}]}','{"campaign":"spring-sale","app":"shop","rows":6,"audience":6,"skipped":{},"selected_by":{"everyone":6},"languages":{},"variants":{},"payload_bytes":{"min":50,"p50":50,"max":96},"seconds_at_pace":null,"samples":[{"device_token":"aa00…0000","selected_by":["everyone"],"payload":{"aps":{"alert":{"title":"Hello","body":"World"}}},"service":"apns"},{"device_token":"fcm-…yyyy","selected_by":["everyone"],"payload":{"message":{"apns":{"headers":{}},"notification":{"title":"Hello","body":"World"},"android":{}}},"service":"fcm"}],"plan_hash":"4104b820f895644ac80dd5a318d4586b541a9a3064c3a7dc998dbbecb1c90529","texts":{},"messages":[{"service":"apns","variant":"","language":"","recipients":3,"title":"Hello","body":"World"},{"service":"fcm","variant":"","language":"","recipients":3,"title":"Hello","body":"World"}],"skipped_why":[],"warnings":[],"services":[{"service":"apns","environment":"simulator","audience":3,"payload_bytes":{"min":50,"p50":50,"max":50},"calls":3,"pace":null,"pace_counts":null,"seconds_at_pace":null},{"service":"fcm","environment":"simulator","audience":3,"payload_bytes":{"min":96,"p50":96,"max":96},"calls":3,"pace":"600000/min","pace_counts":"devices","seconds_at_pace":0}],"environment":"simulator","in_words":{"audience":"Every device of the export.","expires":"when APNs drops it: after 30 days at the latest","priority":"high: shown at once","frequency":"no limit"},"exports":[{"file":"devices.csv","written_at":"2026-11-27T02:41:27Z"}]}','','spring-sale would go to 6 devices of shop (simulator), from 6 rows

Selected by
  everyone                        6  100.0 %  ██████████████████████████████

Payload       50 to 96 bytes, half of them at most 50
Services      APNs, simulator       3 devices  50 bytes  as fast as the server allows
              FCM, simulator        3 devices  96 bytes  0.0 s at 600000/min
Plan hash     4104b820f895644a

Sample for aa00…0000 (APNs, everyone)
  ╭────────────────────────────────────────────────────────╮
  │ shop                                               now │
  │ Hello                                                  │
  │ World                                                  │
  ╰────────────────────────────────────────────────────────╯

Sample for fcm-…yyyy (FCM, everyone)
  ╭────────────────────────────────────────────────────────╮
  │ shop                                               now │
  │ Hello                                                  │
  │ World                                                  │
  ╰────────────────────────────────────────────────────────╯',0,'67dd2c6379afa1b2323178f0197e6157','5066921971bb5d8057a59806b1ccb9c7ef22ad7a3f900b3582591e951d82f290');
CREATE VIEW outcome AS
    WITH RECURSIVE place (place) AS (VALUES (0) UNION ALL SELECT place + 1 FROM place WHERE place < 249),
    slot (recipient_id, digits) AS (
        -- Looked up for each: whatever sorts the rows would carry whole blocks along otherwise.
        SELECT n.number * 250 + place, (SELECT hex(substr(slots, place * 16 + 1, 16))
            FROM outcome_block b WHERE b.number = n.number)
        FROM (SELECT number FROM outcome_block) n CROSS JOIN place)
    SELECT recipient_id, (instr('123456789ABCDEF', substr(digits, 1, 1)) << 0) - 1 AS outcome, (instr('123456789ABCDEF', substr(digits, 2, 1)) << 8) + (instr('123456789ABCDEF', substr(digits, 3, 1)) << 4) + (instr('123456789ABCDEF', substr(digits, 4, 1)) << 0) AS status,
coalesce((SELECT reason FROM reason WHERE number = (instr('123456789ABCDEF', substr(digits, 5, 1)) << 12) + (instr('123456789ABCDEF', substr(digits, 6, 1)) << 8) + (instr('123456789ABCDEF', substr(digits, 7, 1)) << 4) + (instr('123456789ABCDEF', substr(digits, 8, 1)) << 0)), '') AS reason,
(instr('123456789ABCDEF', substr(digits, 9, 1)) << 12) + (instr('123456789ABCDEF', substr(digits, 10, 1)) << 8) + (instr('123456789ABCDEF', substr(digits, 11, 1)) << 4) + (instr('123456789ABCDEF', substr(digits, 12, 1)) << 0) AS attempts, (instr('123456789ABCDEF', substr(digits, 13, 1)) << 28) + (instr('123456789ABCDEF', substr(digits, 14, 1)) << 24) + (instr('123456789ABCDEF', substr(digits, 15, 1)) << 20) + (instr('123456789ABCDEF', substr(digits, 16, 1)) << 16) + (instr('123456789ABCDEF', substr(digits, 17, 1)) << 12) + (instr('123456789ABCDEF', substr(digits, 18, 1)) << 8) + (instr('123456789ABCDEF', substr(digits, 19, 1)) << 4) + (instr('123456789ABCDEF', substr(digits, 20, 1)) << 0) AS latency_ms, (instr('123456789ABCDEF', substr(digits, 21, 1)) << 44) + (instr('123456789ABCDEF', substr(digits, 22, 1)) << 40) + (instr('123456789ABCDEF', substr(digits, 23, 1)) << 36) + (instr('123456789ABCDEF', substr(digits, 24, 1)) << 32) + (instr('123456789ABCDEF', substr(digits, 25, 1)) << 28) + (instr('123456789ABCDEF', substr(digits, 26, 1)) << 24) + (instr('123456789ABCDEF', substr(digits, 27, 1)) << 20) + (instr('123456789ABCDEF', substr(digits, 28, 1)) << 16) + (instr('123456789ABCDEF', substr(digits, 29, 1)) << 12) + (instr('123456789ABCDEF', substr(digits, 30, 1)) << 8) + (instr('123456789ABCDEF', substr(digits, 31, 1)) << 4) + (instr('123456789ABCDEF', substr(digits, 32, 1)) << 0) AS settled_at,
(SELECT i.invalid_since FROM invalid_since i WHERE i.recipient_id = slot.recipient_id) AS invalid_since
    FROM slot WHERE substr(digits, 1, 1) <> '0';
CREATE VIEW result AS
    WITH slot AS (
        SELECT r.id AS recipient_id, r.*,
            (SELECT hex(substr(slots, r.id % 250 * 16 + 1, 16))
            FROM outcome_block b WHERE b.number = r.id / 250
                AND substr(slots, r.id % 250 * 16 + 1, 1) >= x'10') AS digits
        FROM recipient r),
    settled AS (SELECT slot.*, (instr('123456789ABCDEF', substr(digits, 1, 1)) << 0) - 1 AS outcome, (instr('123456789ABCDEF', substr(digits, 2, 1)) << 8) + (instr('123456789ABCDEF', substr(digits, 3, 1)) << 4) + (instr('123456789ABCDEF', substr(digits, 4, 1)) << 0) AS status,
coalesce((SELECT reason FROM reason WHERE number = (instr('123456789ABCDEF', substr(digits, 5, 1)) << 12) + (instr('123456789ABCDEF', substr(digits, 6, 1)) << 8) + (instr('123456789ABCDEF', substr(digits, 7, 1)) << 4) + (instr('123456789ABCDEF', substr(digits, 8, 1)) << 0)), '') AS reason,
(instr('123456789ABCDEF', substr(digits, 9, 1)) << 12) + (instr('123456789ABCDEF', substr(digits, 10, 1)) << 8) + (instr('123456789ABCDEF', substr(digits, 11, 1)) << 4) + (instr('123456789ABCDEF', substr(digits, 12, 1)) << 0) AS attempts, (instr('123456789ABCDEF', substr(digits, 13, 1)) << 28) + (instr('123456789ABCDEF', substr(digits, 14, 1)) << 24) + (instr('123456789ABCDEF', substr(digits, 15, 1)) << 20) + (instr('123456789ABCDEF', substr(digits, 16, 1)) << 16) + (instr('123456789ABCDEF', substr(digits, 17, 1)) << 12) + (instr('123456789ABCDEF', substr(digits, 18, 1)) << 8) + (instr('123456789ABCDEF', substr(digits, 19, 1)) << 4) + (instr('123456789ABCDEF', substr(digits, 20, 1)) << 0) AS latency_ms, (instr('123456789ABCDEF', substr(digits, 21, 1)) << 44) + (instr('123456789ABCDEF', substr(digits, 22, 1)) << 40) + (instr('123456789ABCDEF', substr(digits, 23, 1)) << 36) + (instr('123456789ABCDEF', substr(digits, 24, 1)) << 32) + (instr('123456789ABCDEF', substr(digits, 25, 1)) << 28) + (instr('123456789ABCDEF', substr(digits, 26, 1)) << 24) + (instr('123456789ABCDEF', substr(digits, 27, 1)) << 20) + (instr('123456789ABCDEF', substr(digits, 28, 1)) << 16) + (instr('123456789ABCDEF', substr(digits, 29, 1)) << 12) + (instr('123456789ABCDEF', substr(digits, 30, 1)) << 8) + (instr('123456789ABCDEF', substr(digits, 31, 1)) << 4) + (instr('123456789ABCDEF', substr(digits, 32, 1)) << 0) AS settled_at,
(SELECT i.invalid_since FROM invalid_since i WHERE i.recipient_id = slot.recipient_id) AS invalid_since FROM slot)
    SELECT id, device_token, registration_id, alias, language, variant,
        coalesce((SELECT name FROM outcome_name n WHERE n.outcome = s.outcome),
            CASE WHEN (SELECT last_id FROM claim WHERE first_id <= id ORDER BY first_id DESC LIMIT 1) >= id
            THEN 'unknown' ELSE 'unsent' END) AS outcome,
        nullif(status, 0) AS status, coalesce(reason, '') AS reason, coalesce(attempts, 0) AS attempts,
        CASE WHEN status > 0 THEN latency_ms END AS latency_ms,
        strftime('%Y-%m-%dT%H:%M:%fZ', settled_at / 1000.0, 'unixepoch') AS settled_at,
        strftime('%Y-%m-%dT%H:%M:%fZ', invalid_since / 1000.0, 'unixepoch') AS invalid_since
    FROM settled s;
PRAGMA application_id = 1450142841;
PRAGMA user_version = 6;
