// Test connection: asks the runtime to try the values that are typed, saved or not, and shows what it says.
import { CONFIG_INPUT, element, field } from '../shared/editor/panel.ts';
import type { EditorNode } from '../shared/editor/red.ts';
import { currentSettings } from '../shared/editor/saved.ts';
import { CREDENTIALS } from './config.ts';

/** The runtime answers within 10 s; the rest is for the network. */
const TIMEOUT_MS = 15_000;

interface TestResult {
  ok?: boolean;
  message?: string;
  /** The half has no address. */
  skipped?: boolean;
  /** It works, but perhaps not as it was meant. */
  doubtful?: boolean;
}

/** Makes the button work while the panel is open. */
export function prepareTest(node: EditorNode): void {
  const button = $('#mt-gateway-test');
  // When the runtime answers, the panel of another service may be open.
  const result = $('#mt-gateway-test-result');
  let edition = 0;
  // What was found of other values says nothing about those that stand there now.
  result.closest('.mt-gateway-form').on('input change', ({ target }) => {
    if (target.id !== `${CONFIG_INPUT}-name`) {
      edition += 1;
      result.empty();
    }
  });
  button.on('click', () => {
    const tested = edition;
    button.prop('disabled', true);
    show(result, [line('fa fa-spinner fa-pulse', '', node._('trial.running'))]);
    void test(node)
      .then((lines) => tested === edition && show(result, lines))
      .finally(() => button.prop('disabled', false));
  });
}

/** Shows the lines, in sight also where the panel is longer than its window. */
function show(result: JQuery, lines: readonly JQuery[]): void {
  result.empty().append(...lines);
  result[0]?.scrollIntoView({ block: 'nearest' });
}

async function test(node: EditorNode): Promise<JQuery[]> {
  try {
    const response: unknown = await $.ajax({
      url: 'mt-service/test',
      method: 'POST',
      contentType: 'application/json',
      data: JSON.stringify(typedValues(node)),
      timeout: TIMEOUT_MS,
    });
    const { rest, mqtt } = (response ?? {}) as { rest?: TestResult; mqtt?: TestResult };
    const halves = [resultLine(node, 'rest', rest), resultLine(node, 'mqtt', mqtt)].filter(
      (half) => half !== undefined,
    );
    return halves.length > 0 ? halves : [errorLine(node._('trial.nothing'))];
  } catch (failure) {
    const { status } = failure as JQuery.jqXHR;
    return [errorLine(node._(status === 401 || status === 403 ? 'trial.forbidden' : 'trial.failed'))];
  }
}

/** What is typed at this moment; a password that was not touched travels as the editor's placeholder. */
function typedValues(node: EditorNode): Record<string, unknown> {
  const values: Record<string, unknown> = { ...currentSettings(node, CONFIG_INPUT), id: node.id };
  for (const pointer of ['tls', 'proxy']) {
    if (values[pointer] === '_ADD_') {
      values[pointer] = '';
    }
  }
  const credentials = Object.keys(CREDENTIALS).map((name) => [name, field(name, CONFIG_INPUT).val() ?? '']);
  return { ...values, credentials: Object.fromEntries(credentials) };
}

function resultLine(
  node: EditorNode,
  half: 'rest' | 'mqtt',
  given: TestResult | undefined,
): JQuery | undefined {
  if (!given) {
    return undefined;
  }
  const words = `${node._('trial.of', { half: node._(`trial.${half}`) })} ${given.message ?? node._(given.ok ? 'trial.ok' : 'trial.failed')}`;
  if (given.skipped) {
    return line('fa fa-minus-circle', '', words);
  }
  if (given.ok && given.doubtful) {
    return line('fa fa-exclamation-triangle', 'mt-gateway-verdict-doubtful', words);
  }
  return given.ok ? line('fa fa-check-circle', 'mt-gateway-verdict-ok', words) : errorLine(words);
}

const errorLine = (words: string) => line('fa fa-exclamation-circle', 'mt-gateway-verdict-bad', words);

function line(icon: string, className: string, words: string): JQuery {
  return element('div', `mt-gateway-verdict ${className}`)
    .append(element('i', icon).attr('aria-hidden', 'true'))
    .append(element('span', '', words));
}
