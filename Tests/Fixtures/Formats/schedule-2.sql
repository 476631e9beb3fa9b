-- schedule.sqlite of format 2, made with the tables of that time: a time that was sent, one that was skipped, and one that waits.
CREATE TABLE campaign (
                    name TEXT NOT NULL PRIMARY KEY, file TEXT NOT NULL, times TEXT NOT NULL, decided_through INTEGER NOT NULL
                ) WITHOUT ROWID;
INSERT INTO "campaign" VALUES('spring-sale','/x/spring.yaml','2026-12-01T09:00 |  | UTC | weekly',1796115600000);
CREATE TABLE firing (
                    campaign TEXT NOT NULL, occurrence TEXT NOT NULL,       -- spring-sale, 2026-12-01T09:00
                    file TEXT NOT NULL, run TEXT, state TEXT NOT NULL,
                    problem TEXT NOT NULL,                                  -- {"problem": "noticed_late", "seconds": 7200}; blank for none
                    begins_at INTEGER NOT NULL, ends_at INTEGER NOT NULL, changed_at INTEGER NOT NULL,  -- epoch milliseconds
                    PRIMARY KEY (campaign, occurrence)
                ) WITHOUT ROWID;
INSERT INTO "firing" VALUES('spring-sale','2026-12-01T09:00','/x/spring.yaml','20261201-090000-spring-sale-0005','finished','',1796115600000,1796115600000,1796115600000);
INSERT INTO "firing" VALUES('spring-sale','2026-12-08T09:00','/x/spring.yaml',NULL,'skipped','{"problem":"unapproved"}',1796720400000,1796720400000,1796720400000);
INSERT INTO "firing" VALUES('spring-sale','2026-12-15T09:00','/x/spring.yaml','20261215-090000-spring-sale-0001','waiting','',1797325200000,1797325200000,1797325200000);
CREATE INDEX firing_by_end ON firing (ends_at);
CREATE INDEX firing_by_campaign ON firing (campaign, begins_at);
PRAGMA application_id = 1450142835;
PRAGMA user_version = 2;
