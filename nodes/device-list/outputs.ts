// The three ways in which a device list leaves the node; none but `array` holds more than one page.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { NodeAPI, NodeMessageInFlow } from 'node-red';
import { type Device, invalidInput, ServiceError } from '../../src/index.ts';
import type { Send } from '../shared/runtime/inputs.ts';
import { updateMessage } from '../shared/runtime/message.ts';
import type { DeviceListConfig } from './config.ts';

/** Messages in one turn of the event loop: Node-RED delivers them between two turns, whatever a page holds. */
const MAX_PER_TURN = 100;

interface Page {
  devices: Device[];
  /** Given with the last page. */
  complete?: boolean;
}

interface Output {
  /** @throws ServiceError `CLOSED` when the signal is aborted between two of its messages */
  add(page: Page): Promise<void> | void;
  /** @param complete false: the limit ended the reading */
  end(complete: boolean): void;
  /** The list has ended with an error: sends what was held back. */
  breakOff?(): void;
}

type CreateOutput = (RED: NodeAPI, msg: NodeMessageInFlow, send: Send, signal: AbortSignal) => Output;

export const OUTPUTS_BY_NAME: Record<DeviceListConfig['output'], CreateOutput> = {
  array(RED, msg, send) {
    const devices: Device[] = [];
    return {
      add(page) {
        for (const device of page.devices) {
          devices.push(device);
        }
      },
      end(complete) {
        send(updateMessage(RED, msg, { payload: devices, count: devices.length, complete }));
      },
    };
  },

  page(RED, msg, send) {
    const template = templateOf(RED, msg);
    let ended = false;
    const sendPage = ({ devices, complete }: Page) => {
      ended = complete !== undefined;
      const next = ended ? msg : RED.util.cloneMessage(template);
      send(updateMessage(RED, next, { payload: devices, count: devices.length, ...(ended && { complete }) }));
    };
    return {
      add(page) {
        // A page from which the filters left nothing is sent only where it carries the end.
        if (page.devices.length > 0 || page.complete !== undefined) {
          sendPage(page);
        }
      },
      end(complete) {
        if (!ended) {
          sendPage({ devices: [], complete });
        }
      },
    };
  },

  each(RED, msg, send, signal) {
    const template = templateOf(RED, msg);
    const shared = { id: RED.util.generateId(), type: 'array', len: 1 };
    // As the Split node does: the parts of an outer sequence are kept inside.
    const outer = template.parts === undefined ? undefined : { parts: template.parts };
    // Only the last message knows the number, so the newest device waits for the next one.
    let newest: Device | undefined;
    let index = 0;
    const sendDevice = (device: Device, end?: { complete: boolean }) => {
      const parts = { ...shared, ...outer, index, ...(end && { count: index + 1 }) };
      const next = end ? msg : RED.util.cloneMessage(template);
      const own = { payload: device, device: device.id, gateway: device.mac, count: 1, parts };
      send(updateMessage(RED, next, { ...own, ...end }));
      index += 1;
    };
    return {
      async add(page) {
        for (const device of page.devices) {
          if (newest) {
            sendDevice(newest);
            if (index % MAX_PER_TURN === 0) {
              await yieldToEventLoop();
              if (signal.aborted) {
                throw new ServiceError('CLOSED', 'stopped');
              }
            }
          }
          newest = device;
        }
      },
      end(complete) {
        if (newest) {
          sendDevice(newest, { complete });
        }
      },
      breakOff() {
        if (newest) {
          sendDevice(newest);
        }
      },
    };
  },
};

/**
 * What every message but the last is a copy of: without the properties that are replaced or belong to the last. It is
 * a copy itself, so that a message that cannot be copied is refused before the first page is fetched.
 * @throws ServiceError `INVALID_INPUT`
 */
function templateOf(RED: NodeAPI, msg: NodeMessageInFlow): NodeMessageInFlow {
  try {
    const { payload: _payload, complete: _complete, ...template } = msg;
    return RED.util.cloneMessage(template) as NodeMessageInFlow;
  } catch {
    // The message is not shown: it may contain a key.
    throw invalidInput('msg', undefined, 'notCopied');
  }
}
