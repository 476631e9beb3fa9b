-- A suppression list of format 1, made with the tables of that time: three devices.
CREATE TABLE suppressed (
            environment TEXT NOT NULL,           -- production, sandbox, simulator, or host:port: a token is worth something in one of them
            device_token TEXT NOT NULL,
            reason TEXT NOT NULL,                -- APNs' word, or what an import says
            invalid_since INTEGER NOT NULL,      -- milliseconds since 1970: as APNs says, else when it refused the push
            added_at INTEGER NOT NULL,           -- milliseconds since 1970: when this row was written
            run TEXT NOT NULL,                   -- the run that found out; blank for an import
            PRIMARY KEY (environment, device_token)
        ) WITHOUT ROWID;
INSERT INTO "suppressed" VALUES('sandbox','aa00000000000000000000000000000000000000000000000000000000000000','Unregistered',1796115600000,1796115600000,'');
INSERT INTO "suppressed" VALUES('sandbox','aa00000000000000000000000000000000000000000000000000000000000001','Unregistered',1796115600001,1796115600001,'20261201-090000-spring-sale-0005');
INSERT INTO "suppressed" VALUES('sandbox','aa00000000000000000000000000000000000000000000000000000000000002','Unregistered',1796115600002,1796115600002,'20261201-090000-spring-sale-0005');
PRAGMA application_id = 1450407280;
PRAGMA user_version = 1;
