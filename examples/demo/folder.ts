// The demo's working directory: Node-RED's user folder, with this package and the dashboard linked into it.
import { existsSync } from 'node:fs';
import { mkdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Id of the mt-service node of the demo and of all samples; its credentials are written beside the flow. */
const SERVICE_NODE = 'demo-service';

/** What the dashboard sample needs; a development dependency of this package. */
const DASHBOARD = '@flowfuse/node-red-dashboard';

const MANIFEST = { name: 'mt-gateway-demo', private: true, description: 'Node-RED user folder of the demo' };

const write = (file: string, content: unknown): Promise<void> =>
  writeFile(file, `${JSON.stringify(content, undefined, 2)}\n`);

async function linkPackage(folder: string, name: string, target: string): Promise<void> {
  const link = join(folder, 'node_modules', name);
  if ((await readlink(link).catch(() => '')) === target) {
    return;
  }
  await rm(link, { recursive: true, force: true }); // Removes the link, not what it points to.
  await mkdir(dirname(link), { recursive: true });
  await symlink(target, link, 'junction');
}

type Flow = { id: string }[];

const readFlow = async (...path: string[]): Promise<Flow> =>
  JSON.parse(await readFile(join(...path), 'utf8'));

/** The demo's own tab and the dashboard sample, both in front of the demo's one service. */
async function composeFlows(root: string): Promise<Flow> {
  const demo = await readFlow(root, 'examples', 'demo', 'flows.json');
  const dashboard = await readFlow(root, 'examples', 'dashboard', 'Live dashboard.json');
  return [...demo, ...dashboard.filter(({ id }) => id !== SERVICE_NODE)];
}

/**
 * Prepares the folder. What a user changed in an earlier start stays, unless `fresh` empties it.
 * @param root the project's folder; @param login of the simulated service.
 */
export async function prepareFolder(
  folder: string,
  options: {
    root: string;
    packageName: string;
    fresh: boolean;
    login: { username: string; password: string };
  },
): Promise<void> {
  if (options.fresh) {
    await rm(folder, { recursive: true, force: true });
  }
  await mkdir(folder, { recursive: true });
  await linkPackage(folder, options.packageName, options.root);
  await linkPackage(folder, DASHBOARD, join(options.root, 'node_modules', DASHBOARD));
  if (!existsSync(join(folder, 'package.json'))) {
    await write(join(folder, 'package.json'), MANIFEST);
  }
  if (existsSync(join(folder, 'flows.json'))) {
    return;
  }
  await write(join(folder, 'flows_cred.json'), { [SERVICE_NODE]: options.login });
  await write(join(folder, 'flows.json'), await composeFlows(options.root));
}
