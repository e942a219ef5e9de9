// What every panel does: texts from the catalogue, rows with hints and problems in words, folded rows.
import type { ServiceError } from '../../../src/errors.ts';
import { asText } from '../defaults.ts';
import type { EditorNode } from './red.ts';

const CATALOGUE = '@mt-gateway/node-red-mt-gateway/mt-service:';

/**
 * Words in which no tag begins: Node-RED reads what validators say as HTML in some places and as text in others. A word
 * joiner is not seen in either.
 */
export const withoutTags = (words: string): string => words.replaceAll('<', '<\u2060');

/** A text that several panels use, from the catalogue of mt-service. */
export const text = (key: string, values?: Record<string, unknown>): string =>
  withoutTags(RED._(`${CATALOGUE}editor.${key}`, values));

/** What the sidebar says, too. */
export const sidebarText = (key: string): string => withoutTags(RED._(`${CATALOGUE}sidebar.${key}`));

/** What the status of a node says, too. */
export const statusText = (key: string): string => withoutTags(RED._(`${CATALOGUE}status.${key}`));

/** What a setting is called in the panels, and in errors. */
export const captionOf = (setting: string): string => withoutTags(RED._(`${CATALOGUE}field.${setting}`));

/** What the runtime says when a setting is `INVALID_INPUT`. */
export const errorText = (setting: string, reason: string, values: Record<string, unknown>): string =>
  withoutTags(RED._(`${CATALOGUE}error.INVALID_INPUT.${reason}`, { ...values, field: captionOf(setting) }));

/** The same for what the engine refuses. @param refusal a `ServiceError` of `INVALID_INPUT` */
export function refusalText(setting: string, refusal: unknown): string {
  const { key, values = {} } = (refusal as ServiceError).text;
  return errorText(setting, key.replace(/^.*\./, ''), values);
}

/** Builds an element whose text is never read as HTML: names of devices are not trusted. */
export function element(tag: string, className: string, content = ''): JQuery {
  const made = $(document.createElement(tag)).addClass(className);
  return content === '' ? made : made.text(content);
}

/** As much of a text as somebody reads in a cell; what the network sends may be of any length. */
export const shorten = (content: string, max: number): string =>
  content.length > max ? `${content.slice(0, max)}…` : content;

/** To make one takes longer than to write a hundred numbers with it. The editor is loaded anew for another language. */
const numberFormats = new Map<number, Intl.NumberFormat>();
/** As many as a number can have that is no smaller than what devices measure. */
const ALL_DIGITS = 20;

/** A number as the editor's language writes it. @param digits behind the point at most */
export function numberText(value: number, digits = ALL_DIGITS): string {
  let format = numberFormats.get(digits);
  if (format === undefined) {
    format = new Intl.NumberFormat(RED.i18n.lang(), { maximumFractionDigits: digits, useGrouping: false });
    numberFormats.set(digits, format);
  }
  return format.format(value);
}

/** A number as it is typed: with a point in the place of the comma, where the editor's language has that before decimals. */
export function withPoint(typed: string): string {
  const isDecimal = numberText(0.5).includes(',') && /^[^,.]*,[^,.]*$/.test(typed);
  return isDecimal ? typed.replace(',', '.') : typed;
}

/** How Node-RED expects the ids of a panel's inputs to begin: in the panel of a node, and of a config node. */
export const NODE_INPUT = 'node-input';
export const CONFIG_INPUT = 'node-config-input';

/** The input of a property in the open panel. */
export const field = (name: string, prefix = NODE_INPUT): JQuery =>
  $(document.getElementById(`${prefix}-${name}`) ?? document.createElement('input'));

/** Whether the panel of this node is open, with this typed field: what it shows is newer than what is saved. */
export const shows = ({ id }: EditorNode, name: string): boolean =>
  field(`${name}Type`).is(`[data-node="${id}"]`);

/** The row that an input stands in. */
export const row = (name: string, prefix?: string): JQuery => field(name, prefix).closest('.form-row');

/** A panel that was saved: its inputs are no longer found, although it still slides out. */
const SAVED_CLASS = 'mt-gateway-saved';

/** The panel of these inputs is saved: nothing in it follows from a change any more. */
export const endPanel = (inputs: JQuery): void =>
  void inputs.closest('.mt-gateway-form').addClass(SAVED_CLASS);

/** Whether somebody can still change something in the panel of this element; another one may be open by now. */
export const isPanelOpen = (part: Element): boolean =>
  document.contains(part) && part.closest(`.${SAVED_CLASS}`) === null;

/** Runs `then` now and whenever one of the inputs changes while their panel is open. */
export function runOnChange(names: readonly string[], then: () => void, prefix?: string): void {
  for (const name of names) {
    field(name, prefix).on('change', ({ currentTarget }) => {
      if (isPanelOpen(currentTarget)) {
        then();
      }
    });
  }
  then();
}

/** Shows a line under the input of a row of the open panel; an empty text takes it away. */
export const hint = (name: string, content: string, prefix?: string): JQuery =>
  hintBelow(field(name, prefix), content);

/** The same under an input that was looked up before something was waited for: another panel may be open by now. */
export function hintBelow(input: JQuery, content: string): JQuery {
  const row = input.closest('.form-row');
  const line = row.children('.mt-gateway-hint');
  const shown = line.length > 0 ? line : element('div', 'mt-gateway-hint').appendTo(row);
  return shown.text(content).toggle(content !== '');
}

/** A heading that folds the rows behind it away; open from the start when `open`. */
export function foldable(id: string, open: boolean): void {
  const heading = $(`#${id}`);
  const body = $(`#${id}-body`);
  const show = (wanted: boolean) => {
    heading.attr('aria-expanded', String(wanted));
    heading.children('i').toggleClass('fa-caret-down', wanted).toggleClass('fa-caret-right', !wanted);
    body.toggle(wanted);
  };
  heading.on('click', () => show(heading.attr('aria-expanded') !== 'true'));
  show(open);
}

/** Of a panel, in pixels: what stands beside its form, and the gap that the editor keeps to its left. */
const BESIDE_FORM = 66;

/** Whether it is neither disabled itself nor with its flow. */
export const isOn = ({ d, z }: EditorNode): boolean =>
  d !== true && RED.nodes.workspace(asText(z ?? ''))?.disabled !== true;

/** What is said of a service that is disabled: no deploy brings it to run. Undefined: it is not. */
export function whyDisabled(service: string): string | undefined {
  const node = RED.nodes.node(service);
  return node && !isOn(node) ? text('serviceDisabled') : undefined;
}

/** What every panel is prepared with at last: its form fits the window, and says what is wrong with its fields. */
export function finishPanel(node: EditorNode, prefix = NODE_INPUT): void {
  fitWindow(field('name', prefix).closest('.mt-gateway-form'));
  explainProblems(node, prefix);
}

/** The editor never makes the content of a panel narrower than it was at first: what the window has no room for is cut. */
function fitWindow(form: JQuery): void {
  const room = document.getElementById('red-ui-editor-stack')?.offsetLeft;
  if (room !== undefined) {
    form.css('--mt-gateway-room', `${Math.max(0, room - BESIDE_FORM)}px`);
  }
}

/** Says under each input, in words, what its validator finds wrong, while the panel is open. */
function explainProblems(node: EditorNode, prefix = NODE_INPUT): void {
  for (const [name, property] of Object.entries(node._def.defaults)) {
    const input = field(name, prefix);
    if (!property.validate || input.closest('.form-row').length === 0) {
      continue;
    }
    const line = element('div', 'mt-gateway-problem').attr({
      role: 'alert',
      id: `mt-gateway-problem-${name}`,
    });
    line.appendTo(input.closest('.form-row'));
    const explain = () => {
      const verdict = property.validate?.call(node, currentValue(input), {});
      line.text(typeof verdict === 'string' ? verdict : '').toggle(typeof verdict === 'string');
    };
    input.on('change keyup input paste', explain);
    field(`${name}Type`, prefix).on('change', explain);
    explain();
  }
}

/** What the editor would read of an input. */
export function currentValue(input: JQuery): unknown {
  return input.is(':checkbox') ? input.prop('checked') : input.val();
}
