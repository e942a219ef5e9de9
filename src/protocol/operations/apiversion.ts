// apiversion: which version of the topic interface a gateway speaks. Only the gateway itself answers it.
import {
  type BuiltRequest,
  DEFAULT_PRIORITY,
  type RequestInput,
  readAddress,
  readPriority,
} from './request.ts';

/** Carries nothing but `id`; `device` is ignored, because the request fails anywhere else. */
export function buildApiVersion(input: RequestInput): BuiltRequest {
  const { gateway } = readAddress({ gateway: input.gateway });
  const priority = readPriority(input.priority) ?? DEFAULT_PRIORITY;
  return { gateway, device: gateway, operation: 'apiversion', suffix: 'apiversion', payload: {}, priority };
}
