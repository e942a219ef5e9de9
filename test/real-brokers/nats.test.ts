// What works at a real NATS.
import { describeBroker } from './run-tests.ts';

describeBroker('NATS');
