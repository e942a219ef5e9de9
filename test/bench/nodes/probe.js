// Nodes of the benchmark, loaded into the measured Node-RED: what counts messages and CPU time, and what asks.

module.exports = (RED) => {
  const { inbox, outbox } = RED.settings.functionGlobalContext;
  let left = 0;
  let cpu;
  let since;

  const figures = () => {
    const { user, system } = process.cpuUsage(cpu);
    const { rss, heapUsed } = process.memoryUsage();
    return { cpu: user + system, wall: Number(process.hrtime.bigint() - since) / 1000, rss, heap: heapUsed };
  };

  const start = () => {
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
  inbox.on('bench-memory', () => {
    global.gc?.();
    outbox('bench-memory', process.memoryUsage());
  });

  RED.nodes.registerType('bench-sink', function Sink(config) {
    RED.nodes.createNode(this, config);
    this.on('input', (_msg, _send, done) => {
      count();
      done();
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
