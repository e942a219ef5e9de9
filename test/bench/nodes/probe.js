// Nodes of the benchmark, loaded into the measured Node-RED: what counts messages and CPU time, and what asks.

module.exports = (RED) => {
  const { inbox, outbox } = RED.settings.functionGlobalContext;
  let left = 0;
  let cpu;
  let since;

  let before;
  let highest;
  let sampler;

  const sample = () => {
    highest = Math.max(highest, process.memoryUsage.rss());
  };

  const figures = () => {
    const { user, system } = process.cpuUsage(cpu);
    const wall = Number(process.hrtime.bigint() - since) / 1000;
    clearInterval(sampler);
    sample();
    const timers = { ...globalThis[Symbol.for('bench.timers')] };
    return { cpu: user + system, wall, growth: highest - before, timers };
  };

  /** Memory is looked at only where a case asked for it by --expose-gc: looking costs time. */
  const start = () => {
    global.gc?.();
    before = process.memoryUsage.rss();
    highest = before;
    clearInterval(sampler);
    sampler = global.gc && setInterval(sample, 10);
    Object.keys(globalThis[Symbol.for('bench.timers')] ?? {}).forEach((owner) => {
      globalThis[Symbol.for('bench.timers')][owner] = 0;
    });
    cpu = process.cpuUsage();
    since = process.hrtime.bigint();
  };

  /** One message of a round has arrived; the last one ends it. */
  const count = () => {
    left -= 1;
    if (left === 0) {
      outbox('bench', figures());
    }
  };

  inbox.on('bench-expect', ({ count }) => {
    left = count;
    start();
    outbox('bench-armed', {});
  });
  inbox.on('bench-left', () => outbox('bench-left', { left }));
  inbox.on('bench-start', () => {
    start();
    outbox('bench-armed', {});
  });
  inbox.on('bench-stop', () => outbox('bench', figures()));
  /** Numbers of reports that came since the last order to collect; undefined while none was given. */
  let numbers;
  let twice = 0;
  inbox.on('bench-collect', () => {
    numbers = new Set();
    twice = 0;
    cpu = process.cpuUsage();
    outbox('bench-armed', {});
  });
  inbox.on('bench-collected', () => {
    const { user, system } = process.cpuUsage(cpu);
    outbox('bench-collected', { distinct: numbers.size, twice, cpu: user + system });
  });
  const collect = (number) => {
    twice += numbers.has(number) ? 1 : 0;
    numbers.add(number);
  };

  RED.nodes.registerType('bench-sink', function Sink(config) {
    RED.nodes.createNode(this, config);
    this.on('input', (msg, _send, done) => {
      if (numbers === undefined) {
        count();
      } else {
        collect(msg.payload.number);
      }
      done();
    });
  });

  /** A step in the flow that does nothing. */
  RED.nodes.registerType('bench-pass', function Pass(config) {
    RED.nodes.createNode(this, config);
    this.on('input', (msg, send, done) => {
      send(msg);
      done();
    });
  });

  /** A store: takes a fixed time for each message, and has so many places at a time. */
  RED.nodes.registerType('bench-store', function Store(config) {
    RED.nodes.createNode(this, config);
    // Not shortened while a round lasts: `shift` would move tens of thousands for each message.
    const waiting = [];
    let taken = 0;
    const stored = [];
    let free = config.places;
    let isLooking = false;
    // A timer of Node.js may be a millisecond late, which is a fifth of what this store takes.
    const look = () => {
      while (stored.length > 0 && stored[0].at <= performance.now()) {
        const { send, msg, done } = stored.shift();
        free += 1;
        if (taken < waiting.length) {
          store(...waiting[taken]);
          waiting[taken++] = undefined;
        }
        send(msg);
        done();
      }
      isLooking = stored.length > 0;
      if (isLooking) {
        setImmediate(look);
      }
    };
    const store = (send, msg, done) => {
      free -= 1;
      stored.push({ at: performance.now() + config.milliseconds, send, msg, done });
      if (!isLooking) {
        isLooking = true;
        setImmediate(look);
      }
    };
    this.on('input', (msg, send, done) => {
      if (free > 0) {
        store(send, msg, done);
      } else {
        waiting.push([send, msg, done]);
      }
    });
  });

  /** Sends requests and takes their answers back, so many at a time. */
  RED.nodes.registerType('bench-source', function Source(config) {
    RED.nodes.createNode(this, config);
    let toSend = 0;
    let next = 0;
    const ask = () => {
      toSend -= 1;
      next = (next + 1) % config.messages.length;
      this.send({ ...config.messages[next] });
    };
    const listener = ({ count, atOnce }) => {
      toSend = count;
      for (let i = 0; i < atOnce && toSend > 0; i++) {
        ask();
      }
    };
    inbox.on(config.id, listener);
    this.on('input', (_msg, _send, done) => {
      count();
      if (toSend > 0) {
        ask();
      }
      done();
    });
    this.on('close', () => inbox.off(config.id, listener));
  });
};
