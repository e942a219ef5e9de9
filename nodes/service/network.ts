// What the editor asks about the network of a deployed service: gateways and devices in pages, one device, and everything.
import type { Request } from 'express';
import type { NodeAPI } from 'node-red';
import { ServiceError, type Session } from '../../src/index.ts';
import { readNumber } from '../shared/defaults.ts';
import { errorForReader, NOT_FOUND, readLimit, readQueryText } from '../shared/runtime/admin.ts';
import type { ServiceNode } from '../shared/runtime/services.ts';
import { statusOfError } from '../shared/runtime/status.ts';
import { toFlowError, translate } from '../shared/runtime/texts.ts';

/** The beginning of a longer text is not looked for either. */
const MAX_TEXT_LENGTH = 200;
/** Devices in one question for names, or for the silent ones. */
const MAX_NAMED = 1_000;

/**
 * `GET …/network?parent=&q=&sort=&needs=&near=&offset=&limit=&watch=`
 * @returns `{total, unheard, rows, broker, asked, heard, nameless, pushed}`: how many rows at the end nobody has heard, the
 *   state of the connection by which reports come, whether any are asked for, whether any gateway or device is known, see
 *   `whyNameless`, and whether the editor is told of changes; undefined: later
 * @throws ServiceError `INVALID_INPUT`, also where the settings of the broker are wrong, so that nothing comes
 */
export function listNetwork(session: Session, req: Request, service: ServiceNode, RED: NodeAPI): unknown {
  const { query } = req;
  session.checkHalf('mqtt');
  const { pages, devices, network, state, changes } = session;
  devices?.refreshInBackground();
  const near = isYes(query.near);
  const wanted = {
    parent: readText(query.parent),
    text: readText(query.q),
    sort: readText(query.sort),
    needs: isYes(query.needs),
    near,
    offset: Math.max(0, Math.trunc(readNumber(query.offset, 0))),
    limit: readLimit(query.limit),
  };
  const page = pages.page(wanted, askerOf(req));
  if (page === undefined) {
    return undefined;
  }
  const { total, unheard, rows, order } = page;
  // Whatever is heard may be in the hand.
  const shown = { ids: rows.map(({ id }) => id), seesAll: near, order };
  const pushed = changes.asked(readText(query.watch), shown);
  const asked = session.areReportsAsked;
  return {
    ...{ total, unheard, rows: rows.map((row) => markUnasked(row, asked)) },
    ...{
      broker: state.mqtt.name,
      asked,
      heard: network.hasHeard,
      nameless: whyNameless(RED, session, service),
      pushed,
    },
  };
}

/** `GET …/network/:device`: everything that is known of one; with `?reports=1` also its newest reports. */
export function showDevice(session: Session, { params, query }: Request): unknown {
  const { pages, devices, deviceReports, changes } = session;
  devices?.refreshInBackground();
  const found = pages.details(String(params.device));
  const details = found && markUnasked(found, session.areReportsAsked);
  changes.asked(readText(query.watch), { ids: details ? [details.id] : [] });
  if (details === undefined || !isYes(query.reports)) {
    return details ?? NOT_FOUND;
  }
  return { ...details, reports: deviceReports.poll(details.id) };
}

/**
 * Why the REST half brings no names, as short as in a status, and with no more in it; null: it does, or there is none.
 * What prevents a connection is said as for the broker: with the address, and not by its code alone.
 */
function whyNameless(
  RED: NodeAPI,
  { devices, state: { rest } }: Session,
  service: ServiceNode,
): string | null {
  const problem = rest.name === 'invalid' ? rest.problem : devices?.problem;
  if (problem === undefined) {
    return null;
  }
  if (problem instanceof ServiceError && problem.code === 'NETWORK') {
    return toFlowError(RED, errorForReader(RED, service, problem, false)).message;
  }
  const { key, values } = statusOfError(problem);
  return translate(RED, key, values);
}

/** What nobody listens to is neither fine nor silent. */
function markUnasked<T extends object>(row: T, areReportsAsked: boolean): T & { isUnasked?: true } {
  return areReportsAsked ? row : { ...row, isUnasked: true };
}

/** `POST …/names`: what people call these devices, of `{macs}`; `known`: false while there is no list of devices yet. */
export function nameDevices({ devices }: Session, { body }: Request): unknown {
  devices?.refreshInBackground();
  const { macs } = (body ?? {}) as { macs?: unknown };
  const asked = Array.isArray(macs) ? macs.slice(0, MAX_NAMED) : [];
  const names = asked.flatMap((mac): [string, string][] => {
    const name = typeof mac === 'string' && mac.length <= MAX_TEXT_LENGTH ? devices?.nameOf(mac) : undefined;
    return name === undefined ? [] : [[mac, name]];
  });
  return { known: devices === undefined || devices.hasList, names: Object.fromEntries(names) };
}

/** `POST …/silent`: of `{macs}` those that were not heard for long, with the time; null: never since the start. */
export function listSilent(session: Session, { body }: Request): unknown {
  const { macs } = (body ?? {}) as { macs?: unknown };
  const asked = Array.isArray(macs) ? macs.slice(0, MAX_NAMED) : [];
  return { silent: session.findSilent(asked.filter((mac) => typeof mac === 'string')) };
}

/** `POST …/listen`: with `{all: true}` the broker sends everything for a while; else only whether it does is said. */
export function listen(session: Session, { body }: Request): unknown {
  const { all } = (body ?? {}) as { all?: unknown };
  if (all !== true) {
    return { seconds: 0, listening: false };
  }
  const { seconds, isHearing } = session.allReports.listen();
  return { seconds, listening: isHearing };
}

/** The name of who is logged in; without a login, or for who needs none, the address. */
export function askerOf(req: Pick<Request, 'ip'> & { user?: { username?: string } }): string {
  return req.user?.username ?? req.ip ?? '';
}

const isYes = (value: unknown): boolean => value === '1' || value === 'true';

const readText = (value: unknown): string => (readQueryText(value) ?? '').slice(0, MAX_TEXT_LENGTH);
