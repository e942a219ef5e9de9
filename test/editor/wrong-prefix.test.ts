// What the editor says of a service with a wrong topic prefix, which is connected and hears nothing.
import { serviceNode } from './flow.ts';
import { openSidebar, type Sidebar } from './sidebar.ts';
import { useSite } from './site.ts';

const REPORTS = { id: 'reports', type: 'mt-report-in', service: 'service', x: 200, y: 100, wires: [[]] };

describe('a service with a wrong topic prefix', function () {
  this.timeout(120_000);
  const site = useSite({
    service: { gateways: 1, devices: 1, rate: 0, listed: 2 },
    async deploy({ service, red }) {
      const config = { ...serviceNode(service), authUrl: '', baseUrl: '', topicPrefix: 'plant/' };
      await red.deploy([config, REPORTS]);
      await red.status('reports', ({ text }) => text === 'connected');
    },
  });
  let { editor } = site;
  let side: Sidebar;
  before(async () => {
    ({ editor } = site);
    side = await openSidebar(editor);
  });

  it('is not told in the sidebar that nobody is needed', async () => {
    await side.says('No gateway has been heard yet');
    const asked = editor.page.waitForResponse((response) => response.url().includes('needs=1'));
    await editor.page.locator('#mt-gateway-side-needs').check();
    await (await asked).finished();
    await side.says('No gateway has been heard yet');
  });

  it('gets a warning from its connection test, which names where it has listened', async () => {
    await editor.editConfig('mt-service', 'service');
    await editor.page.click('#mt-gateway-test');
    const verdict = editor.page.locator('.mt-gateway-verdict-doubtful', { hasText: 'plant/mt/gateway/' });
    await verdict.locator('.fa-exclamation-triangle').waitFor();
    await editor.press('cancel', true);
  });
});
