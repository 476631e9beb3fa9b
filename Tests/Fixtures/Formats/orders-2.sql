-- orders.sqlite of format 2, made with the tables of that time: an order that was done, and one that waits.
CREATE TABLE placed (
                    number INTEGER PRIMARY KEY AUTOINCREMENT,
                    nonce TEXT NOT NULL UNIQUE,                  -- the key of the form
                    kind TEXT NOT NULL,                          -- Order.Kind.name: approve, send, pause, skip …
                    run TEXT, file TEXT, campaign TEXT, occurrence TEXT, digest TEXT, reason TEXT,
                    ordered_by TEXT NOT NULL,
                    asked_at INTEGER NOT NULL, lapses_at INTEGER NOT NULL,          -- epoch milliseconds
                    machine_start TEXT NOT NULL, uptime_ms INTEGER NOT NULL,        -- boot id and CLOCK_BOOTTIME when it was asked for
                    state TEXT NOT NULL,                         -- waiting, taken, done, refused, lapsed, left
                    life TEXT NOT NULL,                          -- the process that took it; blank for none
                    details TEXT NOT NULL,                       -- {"run": "…", "end": "finished"}; blank for none
                    made TEXT,                                   -- the run that it makes
                    changed_at INTEGER NOT NULL,
                    most_devices INTEGER                         -- the largest audience of an approval ahead
                );
INSERT INTO "placed" VALUES(1,'first','send','20261201-090000-spring-sale-0005',NULL,NULL,NULL,'d',NULL,'anna',1796115600000,1796116200000,'boot',1000,'done','l','{"run":"20261201-090000-spring-sale-0005","end":"finished"}',NULL,1796115600000,NULL);
INSERT INTO "placed" VALUES(2,'second','send','20261201-090000-spring-sale-0005',NULL,NULL,NULL,'d',NULL,'anna',1796115600000,1796116200000,'boot',1000,'waiting','','',NULL,1796115600000,NULL);
CREATE INDEX placed_by_state ON placed (state, number);
CREATE INDEX placed_by_run ON placed (run);
CREATE INDEX placed_by_made ON placed (made);
INSERT INTO "sqlite_sequence" VALUES('placed',2);
PRAGMA application_id = 1450142831;
PRAGMA user_version = 2;
