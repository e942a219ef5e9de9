// Random life of Subscriptions + Requests at a simulated broker, in virtual time.
import { createRequire } from 'node:module';
const require = createRequire('/work/wt-rv1/package.json');
const FakeTimers = require('@sinonjs/fake-timers');
import { Subscriptions } from './src/mqtt/subscriptions.ts';
import { Requests } from './src/mqtt/requests.ts';
import { createTopics } from './src/protocol/topics.ts';
import { NoBrokerResponse } from './src/mqtt/broker-response.ts';
import { forgetKept } from './src/mqtt/kept-subscriptions.ts';

const topics = createTopics('');
const gw = (n: number) => `c${n.toString(16).padStart(11, '0')}`;
function rng(seed: number) { let s = seed >>> 0; return () => { s = (s + 0x6d2b79f5) >>> 0; let t = s; t = Math.imul(t ^ (t >>> 15), t | 1); t ^= t + Math.imul(t ^ (t >>> 7), t | 61); return ((t ^ (t >>> 14)) >>> 0) / 4294967296; }; }

async function run(seed: number, verbose = false): Promise<string | undefined> {
  const r = rng(seed); const int = (n: number) => Math.floor(r() * n); const chance = (p: number) => r() < p;
  const oldRandom = Math.random; Math.random = rng(seed + 77);
  const clock = FakeTimers.install({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
  const log: string[] = []; const say = (t: string) => { log.push(`${(clock.now / 1000).toFixed(2)} ${t}`); if (verbose) console.log(log.at(-1)); };
  try {
    const persistent = chance(0.3);
    const mk = () => ({ forbid: new Set<string>(), forbidBy: 'close' as 'close' | 'code', quota: Infinity, quotaBy: 'close' as 'close' | 0x97 | 0x80, maxPacket: Infinity, silent: new Set<string>() });
    const all = chance(0.6) ? [mk(), mk()] : [mk()]; let rules = all[0]!; let at = 0; const sessions = all.map(() => new Set<string>());
    const forbidWide = { reports: false, responses: false };
    const randomRules = () => {
      rules.forbid.clear(); rules.silent.clear();
      const N = 24; const bad = chance(0.7) ? int(6) : 0;
      for (let i = 0; i < bad; i++) rules.forbid.add(chance(0.6) ? topics.reportFilter({ gateway: gw(int(N)) }) : topics.responseFilter(gw(int(N))));
      if (chance(0.3)) rules.forbid.add(topics.responseFilter('+'));
      if (chance(0.3)) rules.forbid.add(topics.reportFilter({}));
      rules.forbidBy = chance(0.7) ? 'close' : 'code';
      rules.quota = chance(0.5) ? 8 + int(12) : Infinity; 
      rules.quotaBy = chance(0.5) ? 'close' : chance(0.5) ? 0x97 : 0x80;
      if (chance(0.25)) { for (let i = 0; i < 3; i++) rules.silent.add(chance(0.5) ? topics.reportFilter({ gateway: gw(int(N)) }) : topics.responseFilter(gw(int(N)))); }
      rules.maxPacket = chance(0.2) ? 8 + int(6) : Infinity;
      if (persistent && rules.quotaBy === 'close') rules.quota = Infinity; // documented
      say(`rules forbid=[${[...rules.forbid].join(' ')}] by ${rules.forbidBy} quota ${rules.quota} by ${rules.quotaBy} maxPacket ${rules.maxPacket} persistent ${persistent}`);
    };
    let conns = 0; let paused = false; let session = new Set<string>(); let connected = false; let generation = 0; let connectedAt = 0; let backoff = 1000; let wantConn = true;
    let state = 'none'; let maxSub = Infinity; let wideRefused = false; let narrow = new Set<string>(); let cur = new Set<string>();
    let syncedSince = true;
    const apply = () => {
      const max = wideRefused ? Infinity : Math.max(1, maxSub - 1);
      const next = narrow.size > max ? new Set([topics.reportFilter({})]) : narrow;
      const old = [...cur].filter((f) => !next.has(f)); cur = new Set(next);
      subs.change(cur, 1, old);
    };
    const events = {
      refusing: (f: string) => { if (!wideRefused && cur.has(f) && f === topics.reportFilter({}) && !narrow.has(f)) { wideRefused = true; apply(); } },
      refused: (f: string) => { if (cur.has(f)) { state = 'limited ' + f; } },
      recovered: () => { state = 'connected'; },
      synced: () => { say('synced'); },
      lowerQos() {}, quota: (max: number) => { if (max === maxSub) return; say(`quota ${max}`); maxSub = max; wideRefused = false; requests.shareFilter(max !== Infinity); apply(); },
    };
    const subs = new Subscriptions(persistent, { info() {}, warn(t: string) { say('warn ' + t); }, trace(t: string) { say('trace ' + t); } } as never, events as never);
    const transport = {
      get connected() { return connected; }, broker: 'b', isReadingPaused: false,
      publish: (topic: string, payload: string, qos: number, done: (e?: Error) => void) => {
        const g = generation; const id = JSON.parse(payload).id; const gateway = topic.split('/')[2]!;
        setTimeout(() => { if (g === generation && connected) { done(); } }, 5);
        setTimeout(() => { if (!connected) return; const f = topics.responseFilter(gateway); if (session.has(f) || session.has(topics.responseFilter('+'))) requests.receive({ gateway, device: topic.split('/')[4]!, rest: 'read/8800' } as never, Buffer.from(JSON.stringify({ id, status: 0 })), false); }, 20);
      },
      isFilterActive: (f: string) => subs.isActive(f),
      ensureFilter(f: string, settled: (refused: boolean) => void) { subs.change([f], 1); subs.whenSettled(f, settled); },
      releaseFilter: (f: string) => subs.change([], 1, [f]),
    };
    const requests = new Requests({ maxInFlight: 8, maxQueue: 1000, qos: 1 } as never, topics, transport as never);
    const lose = (why: string, unrelated = false) => {
      if (!connected) return; say(`lost: ${why}`); connected = false; generation++;
      const wasGood = clock.now - connectedAt > 5000; const isSearch = subs.offline(unrelated, wasGood); if (wasGood) backoff = 1000;
      requests.connectionChanged();
      const wait = isSearch ? 250 : (backoff = Math.min(60000, backoff * 2)) / 2;
      setTimeout(connect, wait);
    };
    const connect = () => {
      if (!wantConn) return;
      conns++; at = (at + 1) % all.length; rules = all[at]!; session = sessions[at]!; const g = ++generation; connected = true; connectedAt = clock.now; const present = persistent && session.size > 0; if (!persistent) { session = sessions[at] = new Set(); }
      subs.prepare('s' + seed + (at > 0 ? 'x' : ''), { portions: {}, maxQos: 2 });
      if (maxSub !== Infinity) requests.shareFilter(true);
      if (wideRefused) { wideRefused = false; apply(); }
      requests.connected({ maxUnacknowledged: Infinity, maxPacketBytes: Infinity, maxQos: 2 });
      state = 'connected'; requests.connectionChanged();
      say('connected');
      const reply = <T>(make: () => T | Error): Promise<T> => new Promise((resolve, reject) => setTimeout(() => { if (g !== generation) return reject(new Error('gone')); const x = make(); if (x instanceof Error) reject(x); else resolve(x); }, 10 + int(40)));
      subs.online({
        subscribe: (filters) => { const names = Object.keys(filters); say(`SUB ${names.join(' ')}`); if (names.some((f) => rules.silent.has(f))) return new Promise((_, reject) => setTimeout(() => reject(g === generation ? new NoBrokerResponse() : new Error('gone')), 30_000)) as never; return reply(() => {
          if (names.length > rules.maxPacket) { lose('packet too large'); return new Error('x'); }
          const codes: number[] = [];
          for (const f of names) {
            if (rules.forbid.has(f)) { if (rules.forbidBy === 'close') { lose(`forbidden ${f}`); return new Error('x'); } codes.push(0x80); continue; }
            if (!session.has(f) && session.size >= rules.quota) { if (rules.quotaBy === 'close') { lose('quota'); return new Error('x'); } codes.push(rules.quotaBy); continue; }
            session.add(f); codes.push(1);
          }
          say(`  -> ${codes.map((c) => c.toString(16)).join(' ')}`);
          if (codes.some((c) => c >= 0x80)) return Object.assign(new Error('refused'), { packet: { granted: codes } });
          return names.map((topic, i) => ({ topic, qos: codes[i]! }));
        }); },
        unsubscribe: (filters) => { say(`UNSUB ${filters.join(' ')}`); return reply(() => { if (filters.length > rules.maxPacket) { lose('packet too large'); return new Error('x'); } for (const f of filters) session.delete(f); return undefined as never; }); },
      }, !present);
    };
    // life
    for (const one of all) { rules = one; randomRules(); } rules = all[0]!;
    const N = 24; const open: { at: number; n: number; done: boolean; timeout: number }[] = []; let count = 0; const signal = new AbortController().signal;
    const ask = (n: number) => { const o = { at: clock.now, n: ++count, done: false, timeout: 5000 }; open.push(o); requests.send({ gateway: gw(n), device: gw(n), operation: 'read', identifier: '8800', suffix: 'read/8800', payload: {}, priority: 2 } as never, { timeout: 5000, signal, trafficClass: 'request', awaitResponse: true } as never).then(() => { o.done = true; say(`answer ${o.n}`); }, (e) => { o.done = true; say(`request ${o.n} ${e.code} ${e.text?.key}`); }); say(`ask ${o.n} of ${n}`); };
    const rewant = () => { narrow = new Set(); const k = int(20); for (let i = 0; i < k; i++) narrow.add(topics.reportFilter({ gateway: gw(int(N)) })); apply(); say(`want ${narrow.size}`); };
    rewant();
    setTimeout(connect, 0);
    const steps = 10 + int(30);
    for (let i = 0; i < steps; i++) {
      const x = r(); if (chance(0.15)) { const pv = new Set<string>(); for (let j = int(3); j > 0; j--) { const f = topics.reportFilter({ gateway: gw(int(N)), segment: 'heartbeat' }); pv.add(f); } say('preview ' + [...pv].join(' ')); subs.change(cur, 1, [], pv); }
      if (x < 0.25) rewant(); else if (x < 0.6) { const k = 1 + int(4); for (let j = 0; j < k; j++) ask(int(N)); } else if (x < 0.7) randomRules(); else if (x < 0.8) lose('chance', chance(0.5));
      await clock.tickAsync([0, 5, 20, 100, 1000, 7000, 30000, 400000][int(8)]);
      for (const o of open) if (!o.done && clock.now - o.at > 60_000) return `seed ${seed}: request ${o.n} hangs since ${o.at / 1000}`;
    }
    subs.change(cur, 1, [], new Set()); await clock.tickAsync(200_000);
    // restricted: what is permitted is there, unless quota
    if (connected && rules.quota === Infinity && rules.maxPacket === Infinity) {
      await clock.tickAsync(60_000);
      const missing = [...narrow].filter((f) => !rules.forbid.has(f) && !rules.silent.has(f) && !session.has(f) && !session.has(topics.reportFilter({})));
      // learned quota may be remembered an hour
      if (missing.length > 0 && maxSub === Infinity) { await clock.tickAsync(300_000); const still = missing.filter((f) => !session.has(f) && !session.has(topics.reportFilter({}))); if (still.length > 0 && all.length === 1) return `seed ${seed}: permitted but missing ${still}`; }
    }
    // all is allowed now
    for (const one of all) one.silent.clear(); await clock.tickAsync(120_000); conns = 0; await clock.tickAsync(2 * 3_600_000); if (conns > 400) return `seed ${seed}: ${conns} connections in 2 h`;
    for (const one of all) { one.forbid.clear(); one.quota = Infinity; one.maxPacket = Infinity; } say('ALL ALLOWED');
    await clock.tickAsync(3 * 3_600_000);
    if (!connected) return `seed ${seed}: not connected in the end`;
    const missing = [...narrow].filter((f) => !session.has(f));
    if (missing.length > 0) return `seed ${seed}: in the end missing ${missing} (maxSub ${maxSub}, wideRefused ${wideRefused})`;
    if (state !== 'connected') return `seed ${seed}: state ${state}`;
    for (let k = 0; k < 30; k++) { if (k === 29) { say('FINAL'); } for (let n = 0; n < N; n++) ask(n); await clock.tickAsync(60_000); }
    await clock.tickAsync(10_000);
    const hanging = open.filter((o) => !o.done); if (hanging.length > 0) return `seed ${seed}: ${hanging.length} hang`;
    const extra = [...session].filter((f) => !narrow.has(f) && !f.includes('/response/'));
    if (extra.length > 0) return `seed ${seed}: extra ${extra}`;
    const failedLate = log.slice(log.findIndex((l) => l.endsWith('FINAL'))).filter((l) => /request \d+ [A-Z]/.test(l)); if (failedLate.length > 0) return `seed ${seed}: fails in the end: ${failedLate[0]}`;
    requests.close(); 
    await clock.tickAsync(2 * 3_600_000);
    return undefined;
  } catch (e) { return `seed ${seed}: threw ${(e as Error).stack}`; } finally { Math.random = oldRandom; clock.uninstall(); forgetKept('s' + seed); forgetKept('s' + seed + 'x'); }
}
void (async () => {
const [from, to, v] = process.argv.slice(2);
let bad = 0;
for (let s = Number(from); s < Number(to); s++) { const x = await run(s, v === 'v'); if (x) { console.log(x); if (++bad > 15) break; } }
console.log('done', bad);

})();
