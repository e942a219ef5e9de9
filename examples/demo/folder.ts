// The demo's working directory: Node-RED's user folder, with this package linked into it.
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Id of the demo flow's mt-service node, whose credentials are written beside the flow. */
const SERVICE_NODE = 'demo-service';

const MANIFEST = { name: 'mt-gateway-demo', private: true, description: 'Node-RED user folder of the demo' };

const write = (file: string, content: unknown): Promise<void> =>
  writeFile(file, `${JSON.stringify(content, undefined, 2)}\n`);

async function linkPackage(folder: string, root: string, name: string): Promise<void> {
  const link = join(folder, 'node_modules', name);
  if ((await readlink(link).catch(() => '')) === root) return;
  await rm(link, { recursive: true, force: true }); // Removes the link, not what it points to.
  await mkdir(dirname(link), { recursive: true });
  await symlink(root, link, 'junction');
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
  if (options.fresh) await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await linkPackage(folder, options.root, options.packageName);
  if (!existsSync(join(folder, 'package.json'))) await write(join(folder, 'package.json'), MANIFEST);
  if (existsSync(join(folder, 'flows.json'))) return;
  await write(join(folder, 'flows_cred.json'), { [SERVICE_NODE]: options.login });
  await copyFile(join(options.root, 'examples', 'demo', 'flows.json'), join(folder, 'flows.json'));
}
