// Has a page of the editor take the flows that are deployed now, as loading it again does, for a fraction of the work.
import type { Page } from 'playwright-core';

/** For the browser: what Node-RED's own editor does when it loads its flows, after all that the last test has left. */
const TAKE_FLOWS = `(async () => {
  const frame = () => new Promise(requestAnimationFrame);
  // A list of choices closes when its field is left, a menu of Node-RED when something else is clicked.
  document.activeElement.blur();
  document.body.dispatchEvent(new MouseEvent('mousedown', { bubbles: true }));
  for (;;) {
    const panel = [...document.querySelectorAll('.red-ui-tray')].at(-1);
    if (!panel) break;
    panel.querySelector('[id$=dialog-cancel]').click();
    while (panel.isConnected) await frame();
  }
  // One that was opened in a panel that was closing.
  $('.mt-gateway-list').remove();
  const { flows, rev } = await $.ajax({ url: 'flows', cache: false, headers: { Accept: 'application/json' } });
  // The page is told of a deploy when the flows have started: later, it would take this one for somebody else's.
  const topic = 'notification/runtime-deploy';
  await new Promise((resolve) => {
    const told = (_topic, { revision }) => {
      if (revision === rev) {
        RED.comms.unsubscribe(topic, told);
        resolve();
      }
    };
    RED.comms.subscribe(topic, told);
  });
  for (const note of document.querySelectorAll('.red-ui-notification')) {
    $(note).finish();
    note.close();
    $(note).finish();
  }
  RED.nodes.clear();
  RED.history.clear();
  // Captions forget the names that they have fetched.
  RED.events.emit('deploy');
  RED.nodes.version(rev);
  RED.nodes.import(flows);
  RED.nodes.dirty(false);
  RED.view.redraw(true);
  if (RED.workspaces.active() === 0) RED.workspaces.show(RED.nodes.getWorkspaceOrder()[0]);
  RED.events.emit('flows:loaded');
})()`;

export async function takeFlows(page: Page): Promise<void> {
  await page.evaluate(TAKE_FLOWS);
  await page.waitForSelector('.red-ui-flow-node', { state: 'attached' });
}
