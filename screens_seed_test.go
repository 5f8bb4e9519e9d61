package main

import (
	"crypto/sha256"
	"strings"

	"github.com/hibiken/asynq"

	"bongsu/db"
	"bongsu/web"
)

// Texts that must come out as text and break where there is no room.
var (
	hostileText = `<script>alert(1)</script><img src=x onerror=alert(2)> " autofocus x='`
	arabicText  = "\u202eإشعار صيانة الليلة من الساعة الثانية"
	koreanText  = "정기 점검 안내: 오늘 밤 2시부터 3시까지"
	longWord    = strings.Repeat("Donaudampfschiff", 13)[:200]
)

// sceneLinks are the tokens of the one-time links of scenes.
const sceneLink, sceneUsedLink = "scene-link", "scene-used-link"

// sets runs statements in which :hostile and the like stand for those texts.
func (x *screens) sets(sql string) {
	x.t.Helper()
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
	sql = strings.NewReplacer(":hostile", quote(hostileText), ":arabic", quote(arabicText), ":korean", quote(koreanText), ":long", quote(longWord)).Replace(sql)
	_, err := x.pool.Exec(x.t.Context(), sql)
	x.no(err)
}

// nothing leaves all lists empty; a worker is there.
func nothing(x *screens) {
	x.sets(`
		INSERT INTO worker (id, started_at, seen_at, in_flight, slots, version)
		VALUES ('one', now() - interval '2 hours', now() + interval '1 hour', 37, 256, '1.0.0');
		UPDATE feeder SET term = 3, holder = 'one', lease_until = now() + interval '1 hour', redis_ok_at = now() + interval '1 hour';`)
}

// plenty fills every list, with texts of all sorts.
func plenty(x *screens) {
	x.devicesOfScenes()
	x.noticesOfScenes()
	x.deliveriesOfScenes()
	x.importsOfScenes()
	x.peopleOfScenes()
	client := asynq.NewClientFromRedisClient(x.redisClient())
	for _, kind := range []string{"notice:range", "no:such"} {
		_, err := client.Enqueue(asynq.NewTask(kind, []byte(`{"notice":1,"words":"`+longWord+`"}`)), asynq.Queue("push"), asynq.TaskID("task-"+kind))
		x.no(err)
	}
}

// devicesOfScenes makes 70 devices of one person, and some of a kind.
func (x *screens) devicesOfScenes() {
	x.t.Helper()
	x.devices(70, goodToken)
	x.sets(`
		UPDATE device SET person = 'kim', tags = '{seoul,vip}';
		UPDATE device SET person = 'lee' WHERE id = 1;
		UPDATE device SET person = :hostile, tags = ARRAY[:long, :arabic], installation = :long WHERE id = 2;
		UPDATE device SET person = :korean, disabled_at = now(), disabled_reason = 'token_expired' WHERE id = 3;
		UPDATE device SET person = NULL, tags = '{}', token = NULL, token_hash = NULL, erased_at = now() WHERE id = 4;`)
}

// noticesOfScenes makes a notice of each state: 1 accepted, 2 paused, 3 cancelled,
// 4 with a long word, 5 finished, 6 sending; and 60 more below them.
func (x *screens) noticesOfScenes() {
	x.t.Helper()
	x.sets(`
		INSERT INTO notice (id, key_scope, key, fingerprint, title, body, link, category, platforms, tags, expires_at, expires_given, accepted_by,
			accepted_by_name, accepted_at, audience_max, estimate, state, started_at, first_call_at, state_by_name, finished_at, cut_at, settled_at)
		OVERRIDING SYSTEM VALUE
		SELECT id, 'content', 'k' || id, 'f', title, body, 'https://example.com/' || id, 'info', '{android,ios}'::text[], ARRAY[tag], now() + interval '1 day', true, 'user:1',
			'olive@example.com', now() - interval '3 minutes', 70, 12000, state,
			CASE WHEN state <> 'accepted' THEN now() - interval '2 minutes' END, CASE WHEN state <> 'accepted' THEN now() - interval '2 minutes' END,
			CASE WHEN state IN ('paused', 'cancelled') THEN 'olive@example.com' END,
			CASE WHEN state = 'finished' THEN now() - interval '1 minute' END, CASE WHEN state = 'finished' OR id = 6 THEN now() - interval '1 minute' END,
			CASE WHEN state IN ('finished', 'cancelled') THEN now() END
		FROM (VALUES (1, :hostile, :hostile, 'accepted', :long), (2, :korean, :korean, 'paused', '서울'), (3, :arabic, :arabic, 'cancelled', :arabic),
				(4, :long, :long || E'\n' || :long, 'sending', 'vip'),
				(65, 'Service is back', 'Payments work again. Thank you for waiting.', 'finished', 'seoul'),
				(66, 'Service interruption tonight', 'From 23:00 to 01:00 payments cannot be made. Everything else works as always.', 'sending', 'seoul')
			) AS v (id, title, body, state, tag)
		UNION ALL
		SELECT i, 'content', 'k' || i, 'f', 'Notice number ' || i, 'Body', NULL, 'ad', '{}'::text[], '{}'::text[], now(), false, 'token:1', 'billing', now() - interval '1 day', 70, 70,
			'finished', now() - interval '1 day', now() - interval '1 day', NULL, now() - interval '1 day', now() - interval '1 day', now()
		FROM generate_series(5, 64) i;
		UPDATE notice SET cut_at = now() - interval '110 seconds' WHERE id IN (4, 66);
		INSERT INTO notice_counter (notice_id, shard, total, pending, retrying, sending, sent, failed, skipped, unknown, twice, attempts) VALUES
			(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), (2, 0, 12000, 9000, 0, 0, 3000, 0, 0, 0, 0, 3000), (3, 0, 900, 0, 0, 0, 300, 0, 600, 0, 0, 300),
			(4, 0, 70, 10, 0, 0, 0, 55, 1, 4, 2, 70), (65, 0, 12000, 0, 0, 0, 11996, 4, 0, 0, 0, 12400), (66, 0, 12000, 3478, 90, 110, 8300, 22, 0, 0, 0, 8700);
		INSERT INTO notice_counter (notice_id, scope, shard, total, pending, sent, attempts) VALUES (2, 'fcm:ios', 0, 600, 300, 300, 300),
			(2, 'webpush:updates.push.services.mozilla.com', 0, 40, 30, 10, 10);
		INSERT INTO notice_reason (notice_id, shard, status, reason, n) VALUES (4, 0, 'failed', 'token_expired', 30), (4, 0, 'failed', 'vendor_error', 25),
			(4, 0, 'unknown', 'timeout', 4), (4, 0, 'skipped', 'no_consent', 1), (65, 0, 'failed', 'token_expired', 3), (65, 0, 'failed', 'vendor_error', 1), (66, 0, 'failed', 'token_expired', 22),
			(3, 0, 'skipped', 'cancelled', 600);`)
}

// deliveriesOfScenes makes those of notice 4 in every status, and a history of
// device 2.
func (x *screens) deliveriesOfScenes() {
	x.t.Helper()
	x.sets(`
		INSERT INTO delivery (notice_id, device_id, status, reason, code, message, attempts, charged, failed_at, sent_at, generation, twice)
		SELECT 4, id, 'failed', CASE WHEN id % 2 = 0 THEN 'token_expired' ELSE 'vendor_error' END,
			CASE WHEN id = 2 THEN left(:hostile, 64) WHEN id % 2 = 0 THEN 'UNREGISTERED' ELSE 'UNAVAILABLE' END,
			CASE id WHEN 2 THEN :hostile WHEN 3 THEN :long WHEN 5 THEN :arabic ELSE 'the vendor says so' END, 4, 4, now(), NULL, 1, id = 7
		FROM (SELECT generate_series(2, 55) UNION SELECT 62) v (id);
		INSERT INTO delivery (notice_id, device_id, status, reason, message, attempts, twice) SELECT 4, id, 'unknown', 'timeout', :long, 1, true FROM generate_series(56, 59) id;
		INSERT INTO delivery (notice_id, device_id, status, reason) VALUES (4, 60, 'skipped', 'no_consent');
		INSERT INTO delivery (notice_id, device_id, status, wake_at, reason, attempts) VALUES (4, 61, 'pending', now() + interval '1 hour', 'vendor_error', 2);
		INSERT INTO delivery (notice_id, device_id, status, sent_at, attempts) SELECT n, 2, 'sent', now() - interval '1 day', 1 FROM generate_series(5, 64) n;
		INSERT INTO delivery (notice_id, device_id, status, reason, code, message, attempts, charged, failed_at) VALUES
			(65, 1, 'failed', 'vendor_error', 'UNAVAILABLE', 'try later', 4, 4, now());
		INSERT INTO delivery (notice_id, device_id, status, reason, code, message, attempts, charged, failed_at)
		SELECT 65, id, 'failed', 'token_expired', 'UNREGISTERED', 'the address is gone', 1, 1, now() FROM generate_series(20, 22) id;
		INSERT INTO attempt (notice_id, device_id, fence, generation, started_at, took_ms, http, outcome, charged, doubt, reason, code, message, message_id)
		SELECT 65, 1, i, 1, now() - interval '2 minutes' + i * interval '6 seconds', 30 + i, 503, 'transient', true, false, 'vendor_error', 'UNAVAILABLE', 'try later', NULL
		FROM generate_series(1, 4) i;
		INSERT INTO attempt (notice_id, device_id, fence, generation, started_at, took_ms, http, outcome, charged, doubt, reason, code, message, message_id)
		SELECT n, 2, 1, 1, now(), 31, 503, CASE WHEN n = 4 THEN 'transient' ELSE 'sent' END, false, n = 4, NULL, left(:hostile, 64), :hostile, :long
		FROM generate_series(4, 64) n;
		INSERT INTO replay (id, filter, state, matched, replayed, skipped, asked_by, asked_by_name, finished_at) OVERRIDING SYSTEM VALUE VALUES
			(1, NULL, 'pending', 100, 0, '{}', 'user:1', 'ada@example.com', NULL),
			(2, '{"reason":"token_expired"}', 'running', 100, 60, '{"device_disabled": 10}', 'user:1', :hostile, NULL),
			(3, '{"notice":4,"reason":"token_expired","code":"UNREGISTERED"}', 'done', 100, 60, '{"device_disabled": 30, "device_erased": 10}', 'user:1', :long, now()),
			(4, '{"platform":"ios","since":"2026-12-01T05:00:00Z"}', 'paused', 100, 60, '{}', 'user:1', 'ada@example.com', NULL),
			(5, '{"reason":"rejected"}', 'cancelled', 100000, 60, '{"no_consent": 10}', 'user:1', 'ada@example.com', now());
		INSERT INTO device_event (device_id, at, what, by, by_name) SELECT 70, now() - n * interval '1 hour',
			CASE n % 2 WHEN 0 THEN 'consent_given' ELSE 'consent_withdrawn' END, 'user:1', :hostile FROM generate_series(1, 70) n;
		INSERT INTO device_event (device_id, what, detail, by, by_name) VALUES (3, 'disabled', 'token_expired', 'notice:4', NULL), (4, 'erased', NULL, 'token:7', :long),
			(1, 'consent_withdrawn', NULL, 'token:7', 'billing'), (1, 'consent_given', NULL, 'token:7', 'billing');
		INSERT INTO replay_plan (id, filter, matched, refused, asked_by, asked_by_name) OVERRIDING SYSTEM VALUE VALUES
			(1, '{"notice":4,"reason":"token_expired","code":"UNREGISTERED","platform":"ios"}', 12345, '{"device_disabled": 30, "expired": 10}', 'user:1', :hostile),
			(2, NULL, 0, '{}', 'user:1', :long);
		INSERT INTO test_send (id, title, body, link, asked_by, asked_by_name, finished_at) OVERRIDING SYSTEM VALUE VALUES
			(1, :hostile, :korean, NULL, 'user:1', 'ada@example.com', NULL), (2, :long, :long, 'https://example.com/x', 'user:1', :long, now());
		UPDATE test_send SET asked_by = (SELECT 'user:' || id FROM app_user WHERE email = 'ada@example.com');
		INSERT INTO test_send_device (test_send_id, device_id, status, reason, code, message, sent_at) VALUES
			(1, 1, 'pending', NULL, NULL, NULL, NULL), (1, 2, 'sent', NULL, NULL, NULL, now()),
			(2, 1, 'failed', 'rejected', left(:hostile, 64), :hostile, NULL), (2, 3, 'skipped', 'device_disabled', NULL, NULL, NULL);`)
}

// importsOfScenes makes an import of each kind: 1 pending, 2 running, 3 done with
// rejected rows, 4 failed, 5 cancelled, 6 asks; and 60 more.
func (x *screens) importsOfScenes() {
	x.t.Helper()
	x.sets(`
		INSERT INTO import (id, file_name, file_size, chunks, sha256, dry_run, enable, full_list, accepted_by, accepted_by_name, state, phase, started_at, finished_at,
			ignored, bytes_read, total, total_known, created, updated, unchanged, rejected, doubled, missing, enabled, error_code, error_message)
		OVERRIDING SYSTEM VALUE
		SELECT id, file, 5000000, 5, '\x00'::bytea, id = 3, true, id = 6, 'user:1', 'olive@example.com', state, phase, CASE WHEN state <> 'pending' THEN now() - interval '1 minute' END,
			CASE WHEN state IN ('done', 'failed', 'cancelled') THEN now() END, CASE WHEN id = 3 THEN ARRAY[:long, :hostile] ELSE '{}'::text[] END, 2500000,
			CASE WHEN state IN ('pending', 'failed') THEN 0 ELSE 12000 END, state IN ('done', 'cancelled') OR id = 6, CASE WHEN state IN ('pending', 'failed') THEN 0 ELSE 5000 END,
			0, 0, CASE WHEN state IN ('pending', 'failed') THEN 0 WHEN id = 3 THEN 3 ELSE 0 END, 0, CASE WHEN id = 6 THEN 400 ELSE 0 END, 1000,
			CASE WHEN state = 'failed' THEN 'no_header' END, CASE WHEN state = 'failed' THEN 'the first row does not name token and platform: ' || :long END
		FROM (VALUES (1, :hostile, 'pending', 'reading'), (2, :korean, 'running', 'reading'), (3, :long, 'done', 'writing'), (4, :arabic, 'failed', 'reading'),
			(5, 'devices-old.csv', 'cancelled', 'writing'), (6, 'devices-all.csv', 'running', 'confirm')) AS v (id, file, state, phase)
		UNION ALL
		SELECT i, 'list-' || i || '.csv', 1000, 1, '\x00'::bytea, false, false, false, 'token:1', 'billing', 'done', 'writing', now(), now(), '{}'::text[], 1000, 10, true, 10, 0, 0, 0, 0, 0, 0, NULL, NULL
		FROM generate_series(7, 66) i;
		INSERT INTO import_reject (import_id, row_no, col, value, reason, message, cells) VALUES
			(3, 2, 'platform', :hostile, 'platform', 'must be android, ios or web', ARRAY['a', :hostile]), (3, 3, 'tags', :long, 'tags', 'is too long', ARRAY['a', :long]),
			(3, 4, 'user', :arabic, 'user', 'is not right', ARRAY['a', :arabic]);
		INSERT INTO import_reason (import_id, reason, n) VALUES (3, 'platform', 1), (3, 'tags', 1), (3, 'user', 1);`)
}

// peopleOfScenes makes people, tokens and lines of the log.
func (x *screens) peopleOfScenes() {
	x.t.Helper()
	ctx := x.t.Context()
	for _, token := range []string{sceneLink, sceneUsedLink} {
		hash := sha256.Sum256([]byte(token))
		_, err := x.store.InviteUser(ctx, token+"@example.com", db.Operator, hash[:], commandActor())
		x.no(err)
	}
	_, err := x.store.AddUser(ctx, "second@example.com", db.Support, horse(), commandActor())
	x.no(err)
	for name, role := range map[string]db.Role{hostileText: db.Operator, koreanText: db.Support, longWord[:100]: db.Admin} {
		_, hash := web.NewToken()
		_, err := x.store.AddToken(ctx, name, role, hash, commandActor())
		x.no(err)
	}
	x.sets(`
		UPDATE user_link SET ended_at = now() WHERE user_id = (SELECT id FROM app_user WHERE email = 'scene-used-link@example.com');
		INSERT INTO app_user (id, email, role, password_hash, disabled_at) OVERRIDING SYSTEM VALUE VALUES
			(101, left(:long, 190) || '@example.com', 'operator', 'x', NULL), (102, '<script>alert(1)</script>@example.com', 'support', 'x', now());
		INSERT INTO app_user (email, role, password_hash) SELECT 'person-' || i || '@example.com', 'operator', 'x' FROM generate_series(1, 55) i;
		UPDATE api_token SET revoked_at = now() WHERE name = :korean;
		INSERT INTO audit (actor, actor_name, role, act, object, detail, request_id, result)
		SELECT 'user:1', CASE WHEN i % 2 = 0 THEN :hostile ELSE :long END, 'admin', 'notice.pause', 'notice:' || i,
			jsonb_build_object('address', '127.0.0.1', 'name', :long, 'text', :arabic), :long, CASE WHEN i % 3 = 0 THEN 'refused' ELSE 'done' END
		FROM generate_series(1, 60) i;
		INSERT INTO web_session (token_hash, data, user_id, expires_at, agent, address)
		SELECT sha256(('session' || u.id)::bytea), '', u.id, now() + interval '1 hour', :long, '192.0.2.7' FROM app_user u WHERE u.email LIKE '%@example.com';`)
}

// troubled has the vendor paused, no worker, and nobody who feeds.
func troubled(x *screens) {
	x.sets(`
		UPDATE vendor SET state = 'paused', reason = 'credentials_refused', detail = :long || :hostile, since = now() - interval '5 minutes';
		UPDATE worker SET seen_at = now() - interval '10 minutes';
		UPDATE feeder SET lease_until = now() - interval '10 minutes', redis_down_at = now() - interval '5 minutes', redis_error = 'dial tcp 192.0.2.1:6379: ' || :long;
		UPDATE notice SET accepted_at = now() - interval '1 hour' WHERE id = 1;`)
}

// keeping has the vendor called, and devices kept that it calls gone.
func keeping(x *screens) {
	x.sets(`UPDATE vendor SET state = 'ok', reason = NULL, keep_devices = true, kept_since = now();`)
}

// queueAway stops Redis.
func queueAway(x *screens) { x.redis.Stop() }

// databaseGone has the database refuse everybody, databaseBack nobody.
func databaseGone(x *screens) { x.back = x.databaseAway() }
func databaseBack(x *screens) { x.back() }
