// What people call the devices of nodes, for captions in the workspace: asked for together, and known until a deploy or a rename here.
import { parseMac } from '../../../src/protocol/mac.ts';
import { asText, hasEnv } from '../defaults.ts';
import { textBriefly } from './captions.ts';
import type { EditorNode } from './red.ts';
import { requestService } from './service-request.ts';

/** Of one question; the endpoint takes no more. */
const MAX_ASKED = 1_000;
/** All nodes of a workspace are drawn at once. */
const COLLECT_MS = 100;
/** The runtime may still be reading its list of devices. */
const RETRY_MS = 3_000;
const MAX_TRIES = 5;

interface Names {
  /** By MAC; empty where a device has none. */
  known: Map<string, string>;
  wanted: Set<string>;
  tries: number;
  timer: number | undefined;
}

/** By the id of the service. */
const SERVICES = new Map<string, Names>();
/** Nodes whose captions have a device in them. */
const NAMED_NODES = new Set<string>();
let isFollowing = false;

/** The name of a device where it is known, else its address as it is given; a caption that is drawn before is drawn again. */
export function nameOrAddress(node: EditorNode, address: unknown): string {
  const given = asText(address ?? '');
  const mac = parseMac(given.trim());
  const service = asText(node.service ?? '');
  if (mac === undefined || service === '' || hasEnv(service)) {
    return given;
  }
  followDeploys();
  NAMED_NODES.add(node.id);
  const names = namesOf(service);
  const name = names.known.get(mac);
  if (name === undefined) {
    names.wanted.add(mac);
    askSoon(service, names, COLLECT_MS);
  }
  return name ? textBriefly(name) : given;
}

/** It may have another name now: captions that name it have the old one until the new one is there. */
export function renewName(service: string, mac: string): void {
  const names = SERVICES.get(service);
  if (names?.known.has(mac)) {
    names.wanted.add(mac);
    askSoon(service, names, COLLECT_MS);
  }
}

function namesOf(service: string): Names {
  const known = SERVICES.get(service);
  if (known) {
    return known;
  }
  const names = { known: new Map(), wanted: new Set<string>(), tries: 0, timer: undefined };
  SERVICES.set(service, names);
  return names;
}

function askSoon(service: string, names: Names, ms: number): void {
  if (names.timer === undefined && names.tries < MAX_TRIES && RED.user.hasPermission('mt-service.read')) {
    names.timer = window.setTimeout(() => void ask(service, names), ms);
  }
}

async function ask(service: string, names: Names): Promise<void> {
  const macs = [...names.wanted].slice(0, MAX_ASKED);
  try {
    const { isKnown, found } = await fetchNames(service, macs);
    for (const mac of macs) {
      const name = Object.hasOwn(found, mac) ? asText(found[mac] ?? '') : '';
      if (isKnown || name !== '') {
        names.known.set(mac, name);
        names.wanted.delete(mac);
      }
    }
    names.tries += isKnown ? 0 : 1;
    drawAgain();
  } catch {
    // Not deployed yet, or not allowed: addresses stay until the next deploy.
    names.tries = MAX_TRIES;
  }
  names.timer = undefined;
  if (names.wanted.size > 0) {
    askSoon(service, names, names.tries > 0 ? RETRY_MS : COLLECT_MS);
  }
}

async function fetchNames(
  service: string,
  macs: readonly string[],
): Promise<{ isKnown: boolean; found: Record<string, unknown> }> {
  const response = await requestService<{ known?: unknown; names?: unknown } | null>(service, 'names', {
    body: { macs },
  });
  const found = (typeof response?.names === 'object' && response.names) || {};
  return { isKnown: response?.known === true, found: found as Record<string, unknown> };
}

/** Names may be others, and a service may have another address. */
function followDeploys(): void {
  if (isFollowing) {
    return;
  }
  isFollowing = true;
  RED.events.on('deploy', () => {
    for (const { timer } of SERVICES.values()) {
      window.clearTimeout(timer);
    }
    SERVICES.clear();
    drawAgain();
  });
}

function drawAgain(): void {
  for (const id of NAMED_NODES) {
    const node = RED.nodes.node(id);
    if (node) {
      node.dirty = true;
      // The caption has another length.
      node.resize = true;
    } else {
      NAMED_NODES.delete(id);
    }
  }
  RED.view.redraw();
}
