// What works at brokers in clouds, as far as a scripted broker with their published limits shows it.
import assert from 'node:assert/strict';
import { type BrokerProfileName, findProfileProblem } from '../../src/protocol/broker-profiles.ts';
import { type ScriptedBroker, startScriptedBroker } from '../scripted-broker/broker.ts';
import { PROFILES, type ProfileName } from '../scripted-broker/profiles.ts';
import { BEHAVIOURS, tryBehaviour } from './behaviours.ts';
import type { RealBroker } from './subjects.ts';

const DENIED = 'ffffffffffff';

/** What a user chooses for each of them. */
const CLOUDS = {
  'AWS IoT': 'aws-iot',
  'Azure Event Grid': 'azure-event-grid',
  HiveMQ: 'hivemq',
  EMQX: 'emqx',
} as const satisfies Partial<Record<ProfileName, BrokerProfileName>>;

for (const [name, profile] of Object.entries(CLOUDS) as [keyof typeof CLOUDS, BrokerProfileName][]) {
  describe(`at a broker with the limits of ${name}`, function () {
    this.timeout(60_000);
    let scripted: ScriptedBroker;
    let broker: RealBroker;

    before(async () => {
      const refuses = (filter: string) => filter.includes(DENIED);
      // With MQTT 3.1.1 AWS IoT has no other way of saying it.
      const refusesBy = name === 'AWS IoT' ? 'close' : 'code';
      scripted = await startScriptedBroker({ ...PROFILES[name], refuses, refusesBy });
      broker = {
        url: scripted.url,
        denied: DENIED,
        kill: () => scripted.kill(),
        start: () => scripted.start(),
        stop: () => scripted.stop(),
      };
    });
    after(() => scripted.stop());

    for (const behaviour of BEHAVIOURS) {
      const { needs, lacks, topicPrefix = '' } = behaviour;
      const isForbidden = findProfileProblem(profile, 'topicPrefix', topicPrefix) !== undefined;
      if (isForbidden || (needs && needs !== 'denied')) {
        continue;
      }
      const lack = (lacks as Partial<Record<ProfileName, string>> | undefined)?.[name];
      it(lack === undefined ? behaviour.name : `does not: ${behaviour.name} (${lack})`, async () => {
        const outcome = await tryBehaviour(behaviour, broker, name, profile);
        assert.equal(
          outcome?.works,
          lack === undefined,
          String((outcome?.error as Error | undefined)?.stack),
        );
      });
    }
  });
}
