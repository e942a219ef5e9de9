// The RED.nodes.registerType calls of a script, found without running it: what they register, and their literal settings.
import { type CallExpression, type Node, type ObjectExpression, type Property, parse } from 'acorn';

export interface Registration {
  type: string;
  settings: Record<string, Node>;
}

export function registrationsOfScript(
  script: string,
  sourceType: 'script' | 'module' = 'script',
): Registration[] {
  return callsIn(parse(script, { ecmaVersion: 'latest', sourceType })).flatMap((call) => {
    const [type, settings] = call.arguments;
    return type?.type === 'Literal' && settings?.type === 'ObjectExpression'
      ? [{ type: String(type.value), settings: propertiesOf(settings) }]
      : [];
  });
}

/** The properties of an object literal by name. */
export function propertiesOf({ properties }: ObjectExpression): Record<string, Node> {
  const own = properties.filter((each): each is Property => each.type === 'Property');
  return Object.fromEntries(own.map(({ key, value }) => [key.type === 'Identifier' ? key.name : '', value]));
}

function callsIn(node: Node): CallExpression[] {
  const found: CallExpression[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) {
      value.forEach(visit);
    } else if (typeof value === 'object' && value !== null) {
      if (isRegistration(value as CallExpression)) {
        found.push(value as CallExpression);
      }
      Object.values(value).forEach(visit);
    }
  };
  visit(node);
  return found;
}

/** `RED.nodes.registerType(…)`, written just so. */
function isRegistration({ type, callee }: CallExpression): boolean {
  return (
    type === 'CallExpression' &&
    callee.type === 'MemberExpression' &&
    callee.property.type === 'Identifier' &&
    callee.property.name === 'registerType' &&
    callee.object.type === 'MemberExpression' &&
    callee.object.object.type === 'Identifier' &&
    callee.object.object.name === 'RED'
  );
}

/** The value of a literal; undefined for anything else. */
export const literalOf = (node: Node | undefined): unknown =>
  node?.type === 'Literal' ? (node as Node & { value: unknown }).value : undefined;
