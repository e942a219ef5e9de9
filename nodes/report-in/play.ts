// Plays a part of a record through the deployed mt-report-in nodes of one flow: each line as a test, past the broker.
import type { Request, RequestHandler } from 'express';
import type { Node, NodeAPI } from 'node-red';
import { isObject, type Session } from '../../src/index.ts';
import { handleAction } from '../shared/runtime/admin.ts';
import type { ServiceNode } from '../shared/runtime/services.ts';
import { toFlowError } from '../shared/runtime/texts.ts';
import { type Tester, testerOfNode } from './test-report.ts';

/** Adds the endpoint. What follows in the flow really happens, as with the button: it is for those who may act. */
export function registerPlay(RED: NodeAPI): void {
  const mayAct = RED.auth.needsPermission('mt-service.write') as RequestHandler;
  RED.httpAdmin.post('/mt-service/:id/play', mayAct, handleAction(RED, play));
}

/**
 * `POST …/play`: `{flow, run, begin, lines}`, `flow` being the id of a tab or of a subflow.
 * @returns as `Player.play`, with the problems in words, and `nodes`: how many run in this flow; with none nothing is played
 * @throws ServiceError as `Player.play`
 */
async function play(
  session: Session,
  { body }: Request,
  service: ServiceNode,
  RED: NodeAPI,
  signal: AbortSignal,
): Promise<object> {
  const { flow, run, begin, lines } = isObject(body) ? body : {};
  const testers = testersOf(RED, service, flow);
  const portion = { run, begin: begin === true, lines: testers.length > 0 ? lines : [] };
  const played = await session.player?.play(testers, portion, signal);
  const problems = played?.problems.map(({ line, error }) => ({
    line,
    message: toFlowError(RED, error).message,
  }));
  return { ...played, problems, nodes: testers.length };
}

/** Of the nodes on this tab, or of all instances of this subflow. */
function testersOf(RED: NodeAPI, service: ServiceNode, flow: unknown): Tester[] {
  const ids = new Set<string>();
  RED.nodes.eachNode(({ id, type, z }: { id: string; type: string; z?: string }) => {
    if (type === 'mt-report-in' && z === flow) {
      ids.add(id);
    }
  });
  const users = Object.values(service.users) as (Node & { _alias?: string })[];
  return users
    .filter(({ id, _alias = id }) => ids.has(_alias))
    .map(testerOfNode)
    .filter((tester) => tester !== undefined);
}
