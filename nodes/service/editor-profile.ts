// What the chosen type of broker forbids, said at the field before the deploy, and what is to be known about it.
import {
  BROKER_PROFILE_NAMES,
  findProfileProblem,
  PROFILED_SETTINGS,
  type ProfiledSetting,
} from '../../src/protocol/broker-profiles.ts';
import { hasEnv } from '../shared/defaults.ts';
import { CONFIG_INPUT, errorText, field, hint, runOnChange } from '../shared/editor/panel.ts';
import type { EditorNode } from '../shared/editor/red.ts';

type Check = (value: unknown, options: unknown) => boolean | string;

/** A setting that passes `check` and that the broker of the profile takes. */
export function allowed(setting: ProfiledSetting, check: Check = () => true) {
  return function (this: EditorNode, value: unknown, options: unknown): boolean | string {
    const verdict = check(value, options);
    const profile = BROKER_PROFILE_NAMES.find((name) => name === chosenProfile(this));
    // What is missing in an old flow gets its default.
    if (verdict !== true || profile === undefined || value === undefined || hasEnv(value)) {
      return verdict;
    }
    const found = findProfileProblem(profile, setting, value);
    return found ? errorText(setting, found.reason, { ...found.values, value: String(value) }) : true;
  };
}

/** The profile that the open panel shows is newer than the saved one. */
function chosenProfile(node: EditorNode): unknown {
  const isOpen = $(`[data-mt-service="${node.id}"]`).length > 0;
  return isOpen ? field('brokerProfile', CONFIG_INPUT).val() : node.brokerProfile;
}

/** Shows what is to be known of the profile, and judges the other fields anew when it changes. */
export function prepareProfile(node: EditorNode): void {
  runOnChange(
    ['brokerProfile'],
    () => {
      const profile = BROKER_PROFILE_NAMES.find((name) => name === chosenProfile(node));
      hint('brokerProfile', profile === undefined ? '' : node._(`profileHint.${profile}`), CONFIG_INPUT);
      for (const setting of PROFILED_SETTINGS) {
        field(setting, CONFIG_INPUT).triggerHandler('paste');
      }
    },
    CONFIG_INPUT,
  );
}
