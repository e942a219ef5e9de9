// Node-RED's settings for the demo; the start script passes ports and addresses by environment variables.
module.exports = {
  uiHost: '127.0.0.1',
  uiPort: Number(process.env.MT_DEMO_EDITOR_PORT ?? 1880),
  flowFile: 'flows.json',
  flowFilePretty: true,
  // The demo's credentials are no secret: a file that can be read spares the newcomer from typing them.
  credentialSecret: false,
  // The second is for *Remember in* of the service: what it has stored is there after a restart.
  contextStorage: { default: { module: 'memory' }, file: { module: 'localfilesystem' } },
  telemetry: { enabled: false, updateNotification: false },
  diagnostics: { enabled: false, ui: false },
  editorTheme: {
    page: { title: 'mt gateway demo' },
    header: { title: 'mt gateway demo' },
    tours: false,
    projects: { enabled: false },
    palette: { categories: ['mt_gateway'] },
  },
  logging: { console: { level: 'info', metrics: false, audit: false } },
};

// Without its parent nobody could stop it.
if (process.connected) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
}
