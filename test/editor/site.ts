// For the tests of a block: the service in a box, a Node-RED whose flow uses it, and the editor in a browser.
import type { ServiceOptions } from '../../simulator/src/options.ts';
import { type Service, startService } from '../../simulator/src/service.ts';
import { type NodeRed, startNodeRed, VERSIONS } from '../e2e/node-red.ts';
import { requireBrowser } from '../requirements.ts';
import { closeBrowser, type Editor, type EditorOptions, openEditor, withoutPageErrors } from './browser.ts';

export interface EditorSite {
  service: Service;
  red: NodeRed;
  editor: Editor;
}

export interface SiteOptions extends EditorOptions {
  service: Partial<ServiceOptions>;
  /** Changes the service before anybody has asked it. */
  prepare?(service: Service): void;
  /** Deploys what the editor is opened with. */
  deploy(site: Omit<EditorSite, 'editor'>): Promise<unknown>;
  /** Each test begins with this deploy. */
  isFresh?: boolean;
}

/** Each part is there from the moment when it was started, for `deploy` as well; all end with the block. */
export function useSite({ service, prepare, deploy, isFresh = false, ...options }: SiteOptions): EditorSite {
  const site = {} as EditorSite;
  before(async function () {
    this.timeout(240_000);
    requireBrowser(this);
    site.service = await startService(service);
    prepare?.(site.service);
    site.red = await startNodeRed(VERSIONS[0]!);
    await deploy(site);
    site.editor = await openEditor(site.red.url, options);
  });
  if (isFresh) {
    beforeEach(async () => {
      await deploy(site);
      await site.editor.takeFlows();
    });
  }
  withoutPageErrors(() => site.editor);
  after(async () => {
    await closeBrowser();
    await site.red?.stop();
    await site.service?.close();
  });
  return site;
}
