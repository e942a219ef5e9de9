// The mt-service panel: the two halves of the service in tabs, and a test of what is typed.
import { splitBrokers } from '../../src/protocol/broker-list.ts';
import { showAddress } from '../../src/protocol/redaction.ts';
import { caption } from '../shared/editor/captions.ts';
import { CONFIG_INPUT, field, finishPanel, hint, row, runOnChange, text } from '../shared/editor/panel.ts';
import type { Defaults, EditorNode } from '../shared/editor/red.ts';
import { rememberShown, saveTouched, showSaved } from '../shared/editor/saved.ts';
import {
  attachPath,
  authHeader,
  brokers,
  json,
  ownProperties,
  pageParameter,
  restAddress,
  sharedGroup,
  topicPart,
  wholeNumber,
} from '../shared/editor/validate.ts';
import { RANGES, type ServiceConfig } from './config.ts';
import { allowed, prepareProfile } from './editor-profile.ts';
import { offerStores } from './editor-stores.ts';
import { showSubscriptions } from './editor-subscriptions.ts';
import { prepareTest } from './editor-test.ts';

const TABS = ['mqtt', 'rest', 'advanced'];

RED.nodes.registerType('mt-service', {
  category: 'config',
  color: '#6A9CA6',
  icon: 'service.svg',
  defaults: {
    version: { value: 1 },
    name: { value: '' },
    authUrl: { value: '', validate: half('baseUrl') },
    baseUrl: { value: '', validate: half('authUrl') },
    brokerUrl: { value: '', validate: brokers },
    tls: { value: '', type: 'tls-config', required: false },
    proxy: { value: '', type: 'http proxy', required: false },
    brokerProfile: { value: 'any' },
    clientId: { value: '', validate: allowed('clientId') },
    protocolVersion: { value: 4, validate: allowed('protocolVersion') },
    keepalive: { value: 60, validate: allowed('keepalive', wholeNumber(RANGES.keepalive)) },
    persistent: { value: false },
    sessionExpiry: { value: 86_400, validate: wholeNumber(RANGES.sessionExpiry) },
    sharedGroup: { value: '', validate: allowed('sharedGroup', sharedGroup) },
    topicPrefix: { value: '', validate: allowed('topicPrefix', topicPart) },
    reportQos: { value: 1, validate: allowed('reportQos') },
    requestQos: { value: 1, validate: allowed('requestQos') },
    requestTimeout: { value: 30_000, validate: wholeNumber(RANGES.requestTimeout) },
    maxInFlight: { value: 8, validate: wholeNumber(RANGES.maxInFlight) },
    maxQueue: { value: 1_000, validate: wholeNumber(RANGES.maxQueue) },
    maxSubscriptions: { value: 0, validate: wholeNumber(RANGES.maxSubscriptions) },
    maxUnacknowledged: { value: 0, validate: wholeNumber(RANGES.maxUnacknowledged) },
    httpTimeout: { value: 15_000, validate: wholeNumber(RANGES.httpTimeout) },
    httpRetries: { value: 3, validate: wholeNumber(RANGES.httpRetries) },
    authHeader: { value: 'Authorization', validate: authHeader },
    pageTokenParam: { value: 'NextToken', validate: pageParameter },
    attachPath: { value: 'api/v1/devices/{device}/labels', validate: attachPath },
    names: { value: true },
    remember: { value: '' },
    ackOperation: { value: 'ack' },
    ackDecodedOperation: { value: 'ack-decoded' },
    ackTemplate: { value: '{"time":"{{time}}"}', validate: json('object') },
    identifiers: { value: '[]', validate: ownProperties },
  } satisfies Defaults<ServiceConfig>,
  credentials: {
    username: { type: 'text' },
    password: { type: 'password' },
    mqttUsername: { type: 'text' },
    mqttPassword: { type: 'password' },
  },
  label: caption((node) => address(node) || node._('palette')),
  oneditprepare(this: EditorNode) {
    showSaved(this, CONFIG_INPUT);
    $('#mt-gateway-service-tabs').attr('data-mt-service', this.id);
    prepareTabs(this);
    runOnChange(['persistent', 'protocolVersion'], showSessionExpiry, CONFIG_INPUT);
    runOnChange(['mqttUsername', 'mqttPassword'], () => remarkPassword(this), CONFIG_INPUT);
    prepareTest(this);
    finishPanel(this, CONFIG_INPUT);
    prepareProfile(this);
    offerStores(this);
    void showSubscriptions(this);
    explainTogether('authUrl', 'baseUrl');
    rememberShown(this, CONFIG_INPUT);
  },
  oneditsave(this: EditorNode) {
    saveTouched(this, CONFIG_INPUT);
  },
});

/** One of the two REST addresses: the half works with both or is left out. */
function half(other: 'authUrl' | 'baseUrl') {
  const check = restAddress(other === 'baseUrl' ? 'authUrl' : 'baseUrl');
  return function (this: EditorNode, value: unknown, options: unknown): boolean | string {
    const open =
      document.getElementById(`${CONFIG_INPUT}-${other}`) && $(`[data-mt-service="${this.id}"]`).length > 0;
    const partner = String((open ? field(other, CONFIG_INPUT).val() : this[other]) ?? '').trim();
    return String(value ?? '').trim() === '' && partner !== '' ? text('problem.both') : check(value, options);
  };
}

/** What is typed into one address may be what is wrong with the other. */
function explainTogether(one: string, other: string): void {
  field(one, CONFIG_INPUT).on('change keyup input', () => field(other, CONFIG_INPUT).triggerHandler('paste'));
  field(other, CONFIG_INPUT).on('change keyup input', () => field(one, CONFIG_INPUT).triggerHandler('paste'));
}

/** Where the service is, when it has no name; a query may be a token, and a login is nobody's business. */
function address(node: EditorNode): string {
  const addresses = node.baseUrl
    ? [String(node.baseUrl)]
    : (splitBrokers(String(node.brokerUrl ?? '')) ?? []);
  return addresses.map((url) => showAddress(url).replace(/^\w+:\/\//, '')).join(', ');
}

function prepareTabs(node: EditorNode): void {
  const tabs = RED.tabs.create({
    id: 'mt-gateway-service-tabs',
    onchange: ({ id }) => {
      for (const name of TABS) {
        $(`#mt-gateway-tab-${name}`).toggle(id === name);
      }
    },
  });
  for (const id of TABS) {
    tabs.addTab({ id, label: node._(`tab.${id}`) });
  }
  tabs.activateTab('mqtt');
}

/** A user name that was forgotten shows nowhere else: brokers that take everybody take this, too. */
function remarkPassword(node: EditorNode): void {
  const isGiven = (name: string) => String(field(name, CONFIG_INPUT).val() ?? '') !== '';
  const isAlone = isGiven('mqttPassword') && !isGiven('mqttUsername');
  hint('mqttUsername', isAlone ? node._('hint.passwordAlone') : '', CONFIG_INPUT);
}

/** Only with MQTT 5 a client says how long the broker keeps its session. */
function showSessionExpiry(): void {
  const persistent = field('persistent', CONFIG_INPUT).prop('checked') === true;
  row('sessionExpiry', CONFIG_INPUT).toggle(
    persistent && field('protocolVersion', CONFIG_INPUT).val() !== '4',
  );
}
