/** Under this name the cost stands in the metadata of a mock model's answer. */
export const MOCK_METADATA = "mock";
