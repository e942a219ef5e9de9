// Sees what leaves a node at the moment when it leaves, and tells what the process holds.

const { appendFileSync } = require('node:fs');
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

/** Files are named by RED.settings.witnessFile: a line for each report that left report-in, in the order of leaving. */
module.exports = (RED) => {
  const { witnessFile, functionGlobalContext } = RED.settings;
  if (witnessFile) {
    RED.hooks.add('onSend.witness', (events) => {
      for (const { source, msg } of events) {
        if (source.node.type === 'mt-report-in') {
          appendFileSync(witnessFile, `${msg.report.raw}\n`);
        }
      }
    });
  }
  functionGlobalContext.inbox.on('measure', ({ port }) => {
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
    const listeners = RED.events.eventNames().map((name) => [String(name), RED.events.listenerCount(name)]);
    process.send({
      sink: 'measured',
      msg: {
        heap: process.memoryUsage().heapUsed,
        listeners: Object.fromEntries(listeners),
        // Only handles know their other end.
        connections: process._getActiveHandles().filter(({ remotePort }) => remotePort === port).length,
      },
    });
  });
};
