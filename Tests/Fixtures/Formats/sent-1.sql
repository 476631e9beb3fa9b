-- sent.db of format 1 without the tables that came later: a run that was begun and has ended.
CREATE TABLE beginning (
                    run TEXT NOT NULL PRIMARY KEY, retry_of TEXT NOT NULL,  -- blank for one of its own
                    life TEXT NOT NULL,                                     -- the same in the run file, in its table `life`
                    former_life TEXT,                                       -- NULL once the run file has `life`
                    reached INTEGER NOT NULL,                               -- recipients, or perhaps, when the last life ended
                    claimed INTEGER NOT NULL,                               -- claims; in RUN.sqlite.claimed while it is sent
                    is_over INTEGER NOT NULL,                               -- 1 once the last life has ended
                    campaign TEXT NOT NULL, occurrence TEXT NOT NULL,       -- the time of the schedule; blank without one
                    file TEXT NOT NULL, real_file TEXT NOT NULL,            -- the campaign's: by name, and with links resolved
                    begun_at INTEGER NOT NULL                               -- epoch milliseconds
                ) WITHOUT ROWID;
INSERT INTO "beginning" VALUES('20261201-090000-spring-sale-0005','','1-abc',NULL,4,5,1,'spring-sale','2026-12-01T09:00','/x/spring.yaml','/x/spring.yaml',1796115600000);
PRAGMA application_id = 1449946983;
PRAGMA user_version = 1;
