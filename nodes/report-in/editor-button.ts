// The button of an mt-report-in on the canvas: sends a report through the node as a test; with Shift, one of a typed value.
import { KIND_NAMES, KINDS } from '../../src/protocol/reports/index.ts';
import { hasEnv, readList } from '../shared/defaults.ts';
import { element, numberText, text, whyDisabled, withPoint } from '../shared/editor/panel.ts';
import type { EditorNode } from '../shared/editor/red.ts';
import { type RequestFailure, requestService } from '../shared/editor/service-request.ts';

interface Pressed {
  sent: boolean;
  isMadeUp?: boolean;
  report?: Record<string, unknown>;
  /** With it the same device is chosen again. */
  topic?: string;
}

const FAILURES = {
  forbidden: 'button.mayNot',
  notDeployed: 'preview.notRunning',
  offline: 'button.failed',
  failed: 'button.failed',
};

/** Node-RED shows the button as disabled while the node is not deployed. */
export function isDeployed(this: EditorNode): boolean {
  return this.changed !== true;
}

export function press(this: EditorNode): void {
  if (this.changed === true) {
    notify(this._('preview.deployToSend'), 'warning');
    return;
  }
  // Node-RED gives the button no event.
  if ((window.event as MouseEvent | undefined)?.shiftKey === true && takesValue(this)) {
    void askForValue(this);
  } else {
    void send(this);
  }
}

/** Whether a kind that the node lets through, or may let through, has a value. */
function takesValue({ kinds }: EditorNode): boolean {
  const chosen = readList(kinds);
  const without = KIND_NAMES.filter((kind) => !KINDS[kind].hasValue);
  return chosen.length === 0 || chosen.some((kind) => !without.some((name) => name === kind));
}

/** @param more nothing: the newest report, or a usual value */
async function send(node: EditorNode, more: { value?: unknown; topic?: string } = {}): Promise<void> {
  const pressed = await request(node, more);
  if (pressed) {
    tell(node, pressed);
  }
}

const ask = (node: EditorNode, more: object): Promise<Pressed> =>
  requestService<Pressed>(String(node.service), 'try', { body: { node: node.id, ...more } });

/** @returns undefined: it has failed, and that was told */
async function request(node: EditorNode, more: object): Promise<Pressed | undefined> {
  if (hasEnv(node.service)) {
    notify(node._('button.envService'), 'warning');
    return undefined;
  }
  try {
    return await ask(node, more);
  } catch (failure) {
    const { reason, message } = failure as RequestFailure;
    const why = reason === 'notDeployed' ? whyDisabled(String(node.service)) : message;
    notify(why || node._(FAILURES[reason]), 'error');
    return undefined;
  }
}

function tell(node: EditorNode, { sent, isMadeUp, report = {} }: Pressed): void {
  if (!sent) {
    notify(node._('preview.notRunning'), 'error');
    return;
  }
  const what = describe(node, report);
  notify(node._(`button.${isMadeUp ? 'madeUp' : 'again'}`, { what }), 'success');
}

/** Such as "Meeting room 2.14: temperature 21.5 °C". */
function describe(node: EditorNode, report: Record<string, unknown>): string {
  const { value, unit } = report;
  const shown = typeof value === 'number' ? numberText(value) : value;
  const words = [aboutOf(node, report), shown, unit].filter((word) => word !== undefined && word !== null);
  return node._('button.what', { device: deviceOf(report), value: words.join(' ') });
}

const deviceOf = ({ deviceName, device }: Record<string, unknown>): string => String(deviceName ?? device);

/** What is reported. */
const aboutOf = (node: EditorNode, { name, identifier, kind }: Record<string, unknown>): string =>
  String(name ?? identifier ?? node._(`kind.${kind}`));

/** As text: names come from the network. */
function notify(words: string, type: string): void {
  RED.notify($('<p>').text(words), { type, timeout: 5_000 });
}

/** The runtime was asked what the question will say, and has not answered yet. */
let isAsking = false;

/** What each node was given a value for last: what a rule has switched on is switched off with the same device. */
const LAST_TOPICS = new Map<string, string>();

/** The device of before, unless none of its reports would pass any more. */
async function askAgain(node: EditorNode): Promise<Pressed | undefined> {
  const topic = LAST_TOPICS.get(node.id);
  return topic === undefined || hasEnv(node.service)
    ? undefined
    : ask(node, { ask: true, topic }).catch(() => undefined);
}

/** Of which device the report will be is known before it is sent: the flow may do something to it. */
async function askForValue(node: EditorNode): Promise<void> {
  if (isAsking || $('.mt-gateway-ask').length > 0) {
    return;
  }
  isAsking = true;
  const before = await askAgain(node);
  const asked = before ?? (await request(node, { ask: true }));
  isAsking = false;
  if (asked?.report === undefined) {
    if (asked) {
      tell(node, asked);
    }
    return;
  }
  const { report, topic } = asked;
  const about = aboutOf(node, report);
  const what = report.unit ? `${about} (${report.unit})` : about;
  const input = $('<input type="text" id="mt-gateway-try-value" style="width: 100%">');
  const label = $('<label for="mt-gateway-try-value">').text(
    node._('button.ask', { device: deviceOf(report), what }),
  );
  const problem = element('div', 'mt-gateway-problem').attr('role', 'alert').hide();
  const form = $('<form class="mt-gateway-ask">').append(label, input, problem);
  const question = RED.notify(form, {
    modal: true,
    fixed: true,
    type: 'info',
    buttons: [
      { text: RED._('common.label.cancel'), click: () => question.close() },
      ...(before ? [{ text: node._('button.another'), click: askForAnother }] : []),
      { text: node._('button.send'), class: 'primary', click: () => form.trigger('submit') },
    ],
  });
  function askForAnother(): void {
    LAST_TOPICS.delete(node.id);
    form.remove();
    question.close();
    void askForValue(node);
  }
  input.typedInput({ types: ['num', 'str', 'bool', 'json'] });
  form.on('submit', (event) => {
    event.preventDefault();
    const type = input.typedInput('type');
    const value = readValue(type, input.typedInput('value'));
    if (value === undefined) {
      problem.text(text(`problem.${type === 'num' ? 'number' : 'json'}`)).show();
      return;
    }
    question.close();
    LAST_TOPICS.set(node.id, String(topic));
    void send(node, { value, topic });
  });
  form.on('keydown', ({ key }) => {
    if (key === 'Escape') {
      question.close();
    }
  });
  // After Node-RED has put the focus on the first button.
  setTimeout(() => form.find('.red-ui-typedInput-input').trigger('focus'), 50);
}

/** @returns undefined: there is no such value. The editor's own check takes an empty text and a point for a number. */
function readValue(type: string, given: string): unknown {
  if (type === 'str') {
    return given;
  }
  if (type === 'num') {
    const number = Number(withPoint(given));
    return given.trim() !== '' && Number.isFinite(number) ? number : undefined;
  }
  try {
    return JSON.parse(given);
  } catch {
    return undefined;
  }
}
