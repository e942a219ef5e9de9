// What works at a real Mosquitto.
import { describeBroker } from './run-tests.ts';

describeBroker('Mosquitto');
