-- A run file of format 2, made with the tables of that time: six devices, of which two got their push.
CREATE TABLE claim (                     -- committed before any of these recipients goes onto the wire
            first_id INTEGER PRIMARY KEY,
            last_id INTEGER NOT NULL,
            claimed_at INTEGER NOT NULL
        );
INSERT INTO "claim" VALUES(0,4,1796115601000);
CREATE TABLE figures (json TEXT NOT NULL);
CREATE TABLE outcome (
            recipient_id INTEGER PRIMARY KEY,
            outcome INTEGER NOT NULL,
            status INTEGER NOT NULL,
            reason TEXT NOT NULL,
            attempts INTEGER NOT NULL,
            latency_ms INTEGER NOT NULL,
            settled_at INTEGER NOT NULL,
            invalid_since INTEGER                -- with 410: since when APNs knows the token to be invalid
        );
INSERT INTO "outcome" VALUES(0,0,200,'',1,30,1796115602000,NULL);
INSERT INTO "outcome" VALUES(1,1,410,'Unregistered',1,40,1796115602001,1796029200000);
INSERT INTO "outcome" VALUES(2,0,200,'',2,35,1796115602002,NULL);
INSERT INTO "outcome" VALUES(3,3,503,'ServiceUnavailable',9,500,1796115602003,NULL);
CREATE TABLE outcome_name (outcome INTEGER PRIMARY KEY, name TEXT NOT NULL);
INSERT INTO "outcome_name" VALUES(0,'accepted');
INSERT INTO "outcome_name" VALUES(1,'invalid_token');
INSERT INTO "outcome_name" VALUES(2,'rejected');
INSERT INTO "outcome_name" VALUES(3,'failed');
INSERT INTO "outcome_name" VALUES(4,'unknown');
INSERT INTO "outcome_name" VALUES(5,'unsent');
CREATE TABLE recipient (
            id INTEGER PRIMARY KEY,              -- dense: 0, 1, 2, … in sending order
            device_token TEXT NOT NULL,
            registration_id TEXT NOT NULL,
            alias TEXT NOT NULL,
            language TEXT NOT NULL,
            fields TEXT NOT NULL                 -- JSON array: the cells of the columns in run.fields
        );
INSERT INTO "recipient" VALUES(0,'aa00000000000000000000000000000000000000000000000000000000000000','reg0','user0','en','["Ada 0"]');
INSERT INTO "recipient" VALUES(1,'aa00000000000000000000000000000000000000000000000000000000000001','reg1','user1','en','["Ada 1"]');
INSERT INTO "recipient" VALUES(2,'aa00000000000000000000000000000000000000000000000000000000000002','reg2','user2','en','["Ada 2"]');
INSERT INTO "recipient" VALUES(3,'aa00000000000000000000000000000000000000000000000000000000000003','reg3','user3','en','["Ada 3"]');
INSERT INTO "recipient" VALUES(4,'aa00000000000000000000000000000000000000000000000000000000000004','reg4','user4','en','["Ada 4"]');
INSERT INTO "recipient" VALUES(5,'aa00000000000000000000000000000000000000000000000000000000000005','reg5','user5','en','["Ada 5"]');
CREATE TABLE run (
            id TEXT NOT NULL, campaign TEXT NOT NULL, app TEXT NOT NULL,
            state TEXT NOT NULL,                 -- planned, running, paused, stopped, finished, cancelled
            reason TEXT NOT NULL,                -- why it stopped
            planned_at INTEGER NOT NULL, started_at INTEGER, finished_at INTEGER,
            rows INTEGER NOT NULL, audience INTEGER NOT NULL,
            skipped TEXT NOT NULL,               -- JSON object: rows by skip reason
            seed TEXT NOT NULL,                  -- 128 bits in hex, behind every apns-id
            plan_hash TEXT NOT NULL,
            fields TEXT NOT NULL,                -- JSON array of column names
            project_file TEXT NOT NULL, campaign_file TEXT NOT NULL, campaign_source TEXT NOT NULL,
            settings TEXT NOT NULL,              -- JSON: where to, how fast; secrets are named by file only
            preview TEXT NOT NULL,               -- JSON
            retry_of TEXT NOT NULL               -- the run of which this one sends to some recipients again
        );
INSERT INTO "run" VALUES('20261201-090000-spring-sale-0002','spring-sale','shop','stopped','APNs refused the push with BadTopic (400).',1796115600000,1796115601000,1796115609000,8,6,'{"bad_token":2}','0123456789abcdeffedcba9876543210','abc','["first_name"]','/x/volley.yaml','/x/spring.yaml','name: spring-sale
app: shop
audience: {everyone: true}
content: {title: Hello, body: World}
','{"environment":"sandbox","topic":"com.example.shop","key":{"file":"/keys/AuthKey_ABC123DEFG.p8","id":"ABC123DEFG","team":"DEF123GHIJ"},"certificate":null,"push_type":"alert","priority":10,"expires":null,"collapse":null,"pace":{"pushes":500,"seconds":1},"unknown":"resend"}','{"rows":8}','');
CREATE VIEW result AS
            SELECT r.id, r.device_token, r.registration_id, r.alias, r.language,
                coalesce(n.name, CASE WHEN (SELECT last_id FROM claim WHERE first_id <= r.id ORDER BY first_id DESC LIMIT 1) >= r.id
                    THEN 'unknown' ELSE 'unsent' END) AS outcome,
                nullif(o.status, 0) AS status, coalesce(o.reason, '') AS reason, coalesce(o.attempts, 0) AS attempts,
                CASE WHEN o.status > 0 THEN o.latency_ms END AS latency_ms,
                strftime('%Y-%m-%dT%H:%M:%fZ', o.settled_at / 1000.0, 'unixepoch') AS settled_at,
                strftime('%Y-%m-%dT%H:%M:%fZ', o.invalid_since / 1000.0, 'unixepoch') AS invalid_since
            FROM recipient r
            LEFT JOIN outcome o ON o.recipient_id = r.id
            LEFT JOIN outcome_name n ON n.outcome = o.outcome;
PRAGMA application_id = 1450142841;
PRAGMA user_version = 2;
