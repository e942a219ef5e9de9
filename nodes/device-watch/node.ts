// mt-device-watch: tells when a device needs somebody, and when it does not any more.
import type { NodeAPI, NodeMessage } from 'node-red';
import {
  type Condition,
  type ConditionChange,
  invalidInput,
  type WatchedDevices,
  type WatchSettings,
} from '../../src/index.ts';
import { isInFlows } from '../shared/runtime/deploys.ts';
import type { InputHandler } from '../shared/runtime/inputs.ts';
import { updateMessage } from '../shared/runtime/message.ts';
import { passOnOver } from '../shared/runtime/passed-on.ts';
import { type ActionContext, registerAction, tellProblem } from '../shared/runtime/registration.ts';
import { type Status, statusOfError, statusOfLabels, statusOfRefusal } from '../shared/runtime/status.ts';
import { toFlowError, translate } from '../shared/runtime/texts.ts';
import { registerActiveConditions, showActive } from './active-conditions.ts';
import { type DeviceWatchConfig, isCondition, RANGES, upgrade } from './config.ts';

type Context = ActionContext<DeviceWatchConfig, object>;

export default function registerDeviceWatch(RED: NodeAPI): void {
  registerAction<DeviceWatchConfig>(RED, 'mt-device-watch', {
    upgrade,
    ranges: RANGES,
    check,
    half: 'mqtt',
    sendsByItself: true,
    createHandler,
  });
  registerActiveConditions(RED);
}

function check(config: DeviceWatchConfig): void {
  const { batteryBelow, batteryFine } = config;
  if (batteryFine > 0 && batteryFine < batteryBelow) {
    throw invalidInput('batteryFine', batteryFine, 'outOfRange', { min: batteryBelow, max: 100 });
  }
  const unknown = config.conditions.find((name) => !isCondition(name));
  if (unknown !== undefined) {
    throw invalidInput('conditions', unknown, 'notChoice');
  }
  if (config.conditions.length === 0) {
    throw invalidInput('conditions', config.conditions, 'missing');
  }
}

function createHandler(context: Context): InputHandler {
  const { RED } = context;
  let watch: WatchedDevices;
  try {
    watch = startWatch(context);
  } catch (error) {
    const problem = toFlowError(RED, error);
    context.showReady(statusOfError(problem));
    tellProblem(context, problem);
    return () => Promise.reject(problem);
  }
  return async (msg, send) => {
    const { forget } = msg as { forget?: unknown };
    if (forget !== undefined) {
      watch.forget(forget);
    }
    const payload = watch.active();
    send(updateMessage(RED, msg, { payload, count: payload.length }));
  };
}

function startWatch(context: Context): WatchedDevices {
  const { RED, node, config, session, onClose, showReady, fail } = context;
  let labels: Status | undefined;
  let refused: Status | undefined;
  let hasFailed = false;
  const passedOn = passOnOver(context);
  onClose(() => passedOn.close());
  let watch: WatchedDevices | undefined;
  const show = () => {
    if (watch) {
      showReady(refused ?? labels ?? statusOf(watch.counts));
    }
  };
  const opened = session.watchDevices(
    settingsOf(config),
    {
      changed: (change) => passedOn.send(messageOf(change), undefined),
      counted: show,
      full: (unrestored) =>
        node.warn(
          unrestored === undefined
            ? translate(RED, 'watch.full')
            : translate(RED, 'watch.unrestored', { unrestored }),
        ),
      labels(state) {
        labels = statusOfLabels(state);
        if (state.error && !hasFailed) {
          fail(state.error, {});
        }
        hasFailed = state.name !== 'ready' && (hasFailed || state.error !== undefined);
        show();
      },
    },
    node.id,
  );
  watch = opened;
  // Node-RED calls a disabled one removed, too.
  onClose((removed) => opened.close(!removed || isInFlows(RED, node.id)));
  onClose(showActive(node, opened));
  onClose(
    session.onState((state) => {
      refused = statusOfRefusal(state, () => opened.refusal);
      show();
    }),
  );
  return opened;
}

function settingsOf(config: DeviceWatchConfig): WatchSettings {
  const { version, name, service, conditions, ...settings } = config;
  return { ...settings, conditions: conditions as Condition[] };
}

function statusOf({ active, watched }: WatchedDevices['counts']): Status {
  if (watched === 0) {
    // Green would say that all is well where nothing is known, as with a wrong topic prefix.
    return { style: 'quiet', key: 'status.unheard' };
  }
  return { style: active > 0 ? 'waiting' : 'ready', key: 'status.watching', values: { active, watched } };
}

function messageOf(change: ConditionChange): NodeMessage {
  const { condition, gateway, device } = change;
  return {
    topic: condition,
    payload: change,
    ...(gateway !== undefined && { gateway }),
    device,
  } as NodeMessage;
}
