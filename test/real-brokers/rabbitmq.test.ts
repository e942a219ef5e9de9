// What works at a real RabbitMQ.
import { describeBroker } from './run-tests.ts';

describeBroker('RabbitMQ');
