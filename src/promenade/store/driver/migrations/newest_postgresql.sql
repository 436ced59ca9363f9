CREATE TABLE a_b_test_results (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	control_avg_basket NUMERIC(18, 3),
	experiment_avg_basket NUMERIC(18, 3),
	revenue_uplift NUMERIC(18, 2),
	revenue_t_statistic NUMERIC(18, 6),
	revenue_p_value NUMERIC(11, 10),
	revenue_is_significant BOOLEAN,
	control_conversion_rate NUMERIC(5, 2),
	experiment_conversion_rate NUMERIC(5, 2),
	uplift NUMERIC(18, 2),
	chi_squared NUMERIC(18, 6),
	p_value NUMERIC(11, 10),
	is_significant BOOLEAN,
	trial VARCHAR(30) COLLATE "C" NOT NULL,
	control_transactions BIGINT NOT NULL,
	experiment_transactions BIGINT NOT NULL,
	control_conversions BIGINT NOT NULL,
	experiment_conversions BIGINT NOT NULL,
	total_discount NUMERIC(18, 3),
	past_from DATE,
	past_to DATE,
	past_days INTEGER,
	control_past_avg_basket NUMERIC(18, 3),
	experiment_past_avg_basket NUMERIC(18, 3),
	adjusted_uplift NUMERIC(18, 2),
	adjusted_p_value NUMERIC(11, 10),
	adjusted_is_significant BOOLEAN,
	revenue_uplift_low NUMERIC(18, 2),
	revenue_uplift_high NUMERIC(18, 2),
	adjusted_uplift_low NUMERIC(18, 2),
	adjusted_uplift_high NUMERIC(18, 2),
	significance_level NUMERIC(4, 3),
	computed_at TIMESTAMP WITH TIME ZONE NOT NULL,
	kept_name VARCHAR(255) COLLATE "C",
	currency VARCHAR(3) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_a_b_test_results__key PRIMARY KEY (tenant_id, promotion_id),
	CONSTRAINT ck_a_b_test_results__control_conversion_rate_min CHECK (control_conversion_rate >= 0),
	CONSTRAINT ck_a_b_test_results__control_conversion_rate_max CHECK (control_conversion_rate <= 100),
	CONSTRAINT ck_a_b_test_results__experiment_conversion_rate_min CHECK (experiment_conversion_rate >= 0),
	CONSTRAINT ck_a_b_test_results__experiment_conversion_rate_max CHECK (experiment_conversion_rate <= 100)
);

ALTER TABLE a_b_test_results ENABLE ROW LEVEL SECURITY;

ALTER TABLE a_b_test_results FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON a_b_test_results
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE a_b_test_results_by_currency (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	control_avg_basket NUMERIC(18, 3),
	experiment_avg_basket NUMERIC(18, 3),
	revenue_uplift NUMERIC(18, 2),
	revenue_t_statistic NUMERIC(18, 6),
	revenue_p_value NUMERIC(11, 10),
	revenue_is_significant BOOLEAN,
	control_conversion_rate NUMERIC(5, 2),
	experiment_conversion_rate NUMERIC(5, 2),
	uplift NUMERIC(18, 2),
	chi_squared NUMERIC(18, 6),
	p_value NUMERIC(11, 10),
	is_significant BOOLEAN,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	trial VARCHAR(30) COLLATE "C" NOT NULL,
	control_transactions BIGINT NOT NULL,
	experiment_transactions BIGINT NOT NULL,
	control_conversions BIGINT NOT NULL,
	experiment_conversions BIGINT NOT NULL,
	total_discount NUMERIC(18, 3),
	past_from DATE,
	past_to DATE,
	past_days INTEGER,
	control_past_avg_basket NUMERIC(18, 3),
	experiment_past_avg_basket NUMERIC(18, 3),
	adjusted_uplift NUMERIC(18, 2),
	adjusted_p_value NUMERIC(11, 10),
	adjusted_is_significant BOOLEAN,
	revenue_uplift_low NUMERIC(18, 2),
	revenue_uplift_high NUMERIC(18, 2),
	adjusted_uplift_low NUMERIC(18, 2),
	adjusted_uplift_high NUMERIC(18, 2),
	significance_level NUMERIC(4, 3),
	computed_at TIMESTAMP WITH TIME ZONE NOT NULL,
	kept_name VARCHAR(255) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_a_b_test_results_by_currency__key PRIMARY KEY (tenant_id, promotion_id, currency),
	CONSTRAINT ck_a_b_test_results_by_currency__control_conversion_rate_min CHECK (control_conversion_rate >= 0),
	CONSTRAINT ck_a_b_test_results_by_currency__control_conversion_rate_max CHECK (control_conversion_rate <= 100),
	CONSTRAINT ck_a_b_test_results_by_currency__experiment_conversion_rate_min CHECK (experiment_conversion_rate >= 0),
	CONSTRAINT ck_a_b_test_results_by_currency__experiment_conversion_rate_max CHECK (experiment_conversion_rate <= 100)
);

ALTER TABLE a_b_test_results_by_currency ENABLE ROW LEVEL SECURITY;

ALTER TABLE a_b_test_results_by_currency FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON a_b_test_results_by_currency
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE advice_converted (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	kind VARCHAR(10) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	day DATE NOT NULL,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	converted BIGINT NOT NULL,
	extra_revenue NUMERIC(18, 3) NOT NULL,
	total_discount NUMERIC(18, 3) NOT NULL,
	CONSTRAINT pk_advice_converted__key PRIMARY KEY (tenant_id, kind, promotion_id, day, currency)
);

ALTER TABLE advice_converted ENABLE ROW LEVEL SECURITY;

ALTER TABLE advice_converted FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON advice_converted
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE advice_open (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	customer_id VARCHAR(50) COLLATE "C" NOT NULL,
	kind VARCHAR(10) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	day DATE NOT NULL,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	grand_total NUMERIC(18, 3) NOT NULL,
	shown_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_advice_open__key PRIMARY KEY (tenant_id, customer_id, kind, promotion_id)
);

CREATE INDEX ix_advice_open__age ON advice_open (shown_at);

ALTER TABLE advice_open ENABLE ROW LEVEL SECURITY;

ALTER TABLE advice_open FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON advice_open
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE advice_shown (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	kind VARCHAR(10) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	day DATE NOT NULL,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	promotion_name VARCHAR(255) COLLATE "C" NOT NULL,
	shown BIGINT NOT NULL,
	CONSTRAINT pk_advice_shown__key PRIMARY KEY (tenant_id, kind, promotion_id, day, currency)
);

CREATE INDEX ix_advice_shown__day ON advice_shown (tenant_id, kind, day);

ALTER TABLE advice_shown ENABLE ROW LEVEL SECURITY;

ALTER TABLE advice_shown FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON advice_shown
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE advice_walk (
	id SERIAL NOT NULL,
	place TEXT COLLATE "C" NOT NULL,
	CONSTRAINT pk_advice_walk__key PRIMARY KEY (id)
);

CREATE TABLE aggregator_runs (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	name VARCHAR(50) COLLATE "C" NOT NULL,
	started_at TIMESTAMP WITH TIME ZONE NOT NULL,
	completed_at TIMESTAMP WITH TIME ZONE,
	rows BIGINT NOT NULL,
	status VARCHAR(30) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_aggregator_runs__key PRIMARY KEY (tenant_id, id)
);

CREATE INDEX ix_aggregator_runs__name_started_at ON aggregator_runs (tenant_id, name, started_at);

CREATE INDEX ix_aggregator_runs__started_at ON aggregator_runs (tenant_id, started_at);

ALTER TABLE aggregator_runs ENABLE ROW LEVEL SECURITY;

ALTER TABLE aggregator_runs FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON aggregator_runs
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE arm_days (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	day DATE NOT NULL,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	trial VARCHAR(10) COLLATE "C" NOT NULL,
	promotion_name VARCHAR(255) COLLATE "C",
	treated_transactions BIGINT NOT NULL,
	treated_revenue NUMERIC(18, 3) NOT NULL,
	treated_squares_0 BIGINT NOT NULL,
	treated_squares_1 BIGINT NOT NULL,
	treated_squares_2 BIGINT NOT NULL,
	treated_conversions BIGINT NOT NULL,
	treated_discount NUMERIC(18, 3) NOT NULL,
	control_transactions BIGINT NOT NULL,
	control_revenue NUMERIC(18, 3) NOT NULL,
	control_squares_0 BIGINT NOT NULL,
	control_squares_1 BIGINT NOT NULL,
	control_squares_2 BIGINT NOT NULL,
	control_conversions BIGINT NOT NULL,
	extra_revenue NUMERIC(18, 3),
	is_stale BOOLEAN NOT NULL,
	CONSTRAINT pk_arm_days__key PRIMARY KEY (tenant_id, promotion_id, day, currency)
);

CREATE INDEX ix_arm_days__day ON arm_days (tenant_id, day);

CREATE INDEX ix_arm_days__stale ON arm_days (tenant_id, promotion_id) WHERE is_stale;

ALTER TABLE arm_days ENABLE ROW LEVEL SECURITY;

ALTER TABLE arm_days FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON arm_days
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE arm_trials (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	catalogue BIGINT NOT NULL,
	read_at TIMESTAMP WITH TIME ZONE NOT NULL,
	since TIMESTAMP WITH TIME ZONE NOT NULL,
	until TIMESTAMP WITH TIME ZONE NOT NULL,
	trials BYTEA NOT NULL,
	CONSTRAINT pk_arm_trials__key PRIMARY KEY (tenant_id)
);

ALTER TABLE arm_trials ENABLE ROW LEVEL SECURITY;

ALTER TABLE arm_trials FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON arm_trials
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE arm_utc_days (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	day DATE NOT NULL,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	trial VARCHAR(10) COLLATE "C" NOT NULL,
	promotion_name VARCHAR(255) COLLATE "C",
	treated_transactions BIGINT NOT NULL,
	treated_revenue NUMERIC(18, 3) NOT NULL,
	treated_squares_0 BIGINT NOT NULL,
	treated_squares_1 BIGINT NOT NULL,
	treated_squares_2 BIGINT NOT NULL,
	treated_conversions BIGINT NOT NULL,
	treated_discount NUMERIC(18, 3) NOT NULL,
	control_transactions BIGINT NOT NULL,
	control_revenue NUMERIC(18, 3) NOT NULL,
	control_squares_0 BIGINT NOT NULL,
	control_squares_1 BIGINT NOT NULL,
	control_squares_2 BIGINT NOT NULL,
	control_conversions BIGINT NOT NULL,
	CONSTRAINT pk_arm_utc_days__key PRIMARY KEY (tenant_id, promotion_id, day, currency)
);

ALTER TABLE arm_utc_days ENABLE ROW LEVEL SECURITY;

ALTER TABLE arm_utc_days FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON arm_utc_days
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE article_groups (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	group_id VARCHAR(20) COLLATE "C" NOT NULL,
	name VARCHAR(255) COLLATE "C",
	description VARCHAR(1000) COLLATE "C",
	type VARCHAR(30) COLLATE "C" NOT NULL,
	source VARCHAR(30) COLLATE "C" NOT NULL,
	never_discounted VARCHAR(30) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	parent_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_article_groups__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_article_groups__parent_id FOREIGN KEY(tenant_id, parent_id) REFERENCES article_groups (tenant_id, id),
	CONSTRAINT uq_article_groups__group_id UNIQUE (tenant_id, group_id)
);

CREATE INDEX ix_article_groups__parent_id ON article_groups (tenant_id, parent_id);

ALTER TABLE article_groups ENABLE ROW LEVEL SECURITY;

ALTER TABLE article_groups FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON article_groups
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE article_import_jobs (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	name VARCHAR(255) COLLATE "C",
	status VARCHAR(30) COLLATE "C" NOT NULL,
	total_articles INTEGER NOT NULL,
	processed_articles INTEGER NOT NULL,
	failed_articles INTEGER NOT NULL,
	started_at TIMESTAMP WITH TIME ZONE,
	completed_at TIMESTAMP WITH TIME ZONE,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_article_import_jobs__key PRIMARY KEY (tenant_id, id)
);

ALTER TABLE article_import_jobs ENABLE ROW LEVEL SECURITY;

ALTER TABLE article_import_jobs FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON article_import_jobs
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE audit_logs (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	timestamp TIMESTAMP WITH TIME ZONE NOT NULL,
	actor VARCHAR(255) COLLATE "C" NOT NULL,
	agent VARCHAR(100) COLLATE "C",
	action VARCHAR(50) COLLATE "C" NOT NULL,
	entity_type VARCHAR(50) COLLATE "C" NOT NULL,
	entity_id VARCHAR(50) COLLATE "C" NOT NULL,
	entity_name VARCHAR(255) COLLATE "C" NOT NULL,
	note VARCHAR(2000) COLLATE "C",
	owner_type VARCHAR(50) COLLATE "C" NOT NULL,
	owner_id VARCHAR(50) COLLATE "C" NOT NULL,
	owner_name VARCHAR(255) COLLATE "C" NOT NULL,
	changes TEXT COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_audit_logs__key PRIMARY KEY (tenant_id, id)
);

CREATE INDEX ix_audit_logs__entity_type_entity_id_timestamp ON audit_logs (tenant_id, entity_type, entity_id, timestamp);

CREATE INDEX ix_audit_logs__owner_type_owner_id_timestamp ON audit_logs (tenant_id, owner_type, owner_id, timestamp);

CREATE INDEX ix_audit_logs__timestamp ON audit_logs (tenant_id, timestamp);

ALTER TABLE audit_logs ENABLE ROW LEVEL SECURITY;

ALTER TABLE audit_logs FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON audit_logs
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE authorization_codes (
	code_hash VARCHAR(64) COLLATE "C" NOT NULL,
	client_id VARCHAR(100) COLLATE "C" NOT NULL,
	session_id VARCHAR(36) COLLATE "C",
	redirect_uri VARCHAR(2000) COLLATE "C" NOT NULL,
	challenge VARCHAR(43) COLLATE "C" NOT NULL,
	ends_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_authorization_codes__key PRIMARY KEY (code_hash)
);

CREATE TABLE basket_days (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	pos_group_id VARCHAR(36) COLLATE "C" NOT NULL,
	day DATE NOT NULL,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	transactions BIGINT NOT NULL,
	revenue NUMERIC(18, 3) NOT NULL,
	squares_0 BIGINT NOT NULL,
	squares_1 BIGINT NOT NULL,
	squares_2 BIGINT NOT NULL,
	is_stale BOOLEAN NOT NULL,
	CONSTRAINT pk_basket_days__key PRIMARY KEY (tenant_id, pos_group_id, day, currency)
);

CREATE INDEX ix_basket_days__stale ON basket_days (tenant_id, day) WHERE is_stale;

ALTER TABLE basket_days ENABLE ROW LEVEL SECURITY;

ALTER TABLE basket_days FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON basket_days
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE budget_promotion_utc_days (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	budget_id VARCHAR(36) COLLATE "C" NOT NULL,
	day DATE NOT NULL,
	consumed NUMERIC(18, 3) NOT NULL,
	uncovered NUMERIC(18, 3) NOT NULL,
	transactions BIGINT NOT NULL,
	CONSTRAINT pk_budget_promotion_utc_days__key PRIMARY KEY (tenant_id, promotion_id, budget_id, day)
);

ALTER TABLE budget_promotion_utc_days ENABLE ROW LEVEL SECURITY;

ALTER TABLE budget_promotion_utc_days FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON budget_promotion_utc_days
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE budget_requests (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_name VARCHAR(255) COLLATE "C",
	amount NUMERIC(15, 2) NOT NULL,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	reason VARCHAR(1000) COLLATE "C",
	status VARCHAR(30) COLLATE "C" NOT NULL,
	asked_at TIMESTAMP WITH TIME ZONE,
	asked_by VARCHAR(255) COLLATE "C",
	answered_at TIMESTAMP WITH TIME ZONE,
	answered_by VARCHAR(255) COLLATE "C",
	answer VARCHAR(1000) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	budget_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_budget_requests__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_budget_requests__amount_min CHECK (amount >= 0.01)
);

CREATE INDEX ix_budget_requests__promotion_id_status ON budget_requests (tenant_id, promotion_id, status);

CREATE INDEX ix_budget_requests__status_asked_at ON budget_requests (tenant_id, status, asked_at);

ALTER TABLE budget_requests ENABLE ROW LEVEL SECURITY;

ALTER TABLE budget_requests FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON budget_requests
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE budget_totals (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	budget_id VARCHAR(36) COLLATE "C" NOT NULL,
	consumed NUMERIC(18, 3) NOT NULL,
	uncovered NUMERIC(18, 3) NOT NULL,
	transactions BIGINT NOT NULL,
	first_at TIMESTAMP WITH TIME ZONE NOT NULL,
	last_at TIMESTAMP WITH TIME ZONE NOT NULL,
	changed BOOLEAN NOT NULL,
	daily_burn NUMERIC(18, 3),
	reckoned_at TIMESTAMP WITH TIME ZONE,
	CONSTRAINT pk_budget_totals__key PRIMARY KEY (tenant_id, budget_id)
);

ALTER TABLE budget_totals ENABLE ROW LEVEL SECURITY;

ALTER TABLE budget_totals FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON budget_totals
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE budget_utc_days (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	budget_id VARCHAR(36) COLLATE "C" NOT NULL,
	day DATE NOT NULL,
	consumed NUMERIC(18, 3) NOT NULL,
	uncovered NUMERIC(18, 3) NOT NULL,
	transactions BIGINT NOT NULL,
	CONSTRAINT pk_budget_utc_days__key PRIMARY KEY (tenant_id, budget_id, day)
);

ALTER TABLE budget_utc_days ENABLE ROW LEVEL SECURITY;

ALTER TABLE budget_utc_days FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON budget_utc_days
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE budgets (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	code VARCHAR(50) COLLATE "C" NOT NULL,
	name VARCHAR(255) COLLATE "C" NOT NULL,
	description VARCHAR(1000) COLLATE "C",
	status VARCHAR(30) COLLATE "C" NOT NULL,
	total_amount NUMERIC(16, 3) NOT NULL,
	consumed_amount NUMERIC(18, 3) NOT NULL,
	reserved_amount NUMERIC(18, 3) NOT NULL,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	valid_from TIMESTAMP WITH TIME ZONE,
	valid_to TIMESTAMP WITH TIME ZONE,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_budgets__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_budgets__total_amount_min CHECK (total_amount >= 0),
	CONSTRAINT uq_budgets__code UNIQUE (tenant_id, code),
	CONSTRAINT ck_budgets__covered CHECK (consumed_amount >= 0 AND reserved_amount >= 0 AND consumed_amount + reserved_amount <= total_amount)
);

CREATE INDEX ix_budgets__status_valid_to ON budgets (tenant_id, status, valid_to);

ALTER TABLE budgets ENABLE ROW LEVEL SECURITY;

ALTER TABLE budgets FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON budgets
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE cache_keys (
	purpose VARCHAR(20) COLLATE "C" NOT NULL,
	secret BYTEA NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_cache_keys__key PRIMARY KEY (purpose)
);

CREATE TABLE calculation_log_blocks (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	block INTEGER NOT NULL,
	log_id VARCHAR(36) COLLATE "C" NOT NULL,
	CONSTRAINT pk_calculation_log_blocks__key PRIMARY KEY (tenant_id, promotion_id, block, log_id)
);

ALTER TABLE calculation_log_blocks ENABLE ROW LEVEL SECURITY;

ALTER TABLE calculation_log_blocks FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON calculation_log_blocks
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE calculation_logs (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	transaction_id VARCHAR(50) COLLATE "C" NOT NULL,
	transaction_counter INTEGER NOT NULL,
	receipt_id VARCHAR(50) COLLATE "C",
	header_reference VARCHAR(100) COLLATE "C",
	customer_id VARCHAR(50) COLLATE "C",
	channel VARCHAR(50) COLLATE "C",
	status VARCHAR(30) COLLATE "C" NOT NULL,
	pilot_arm VARCHAR(30) COLLATE "C",
	subtotal NUMERIC(18, 3) NOT NULL,
	discount NUMERIC(18, 3) NOT NULL,
	grand_total NUMERIC(18, 3) NOT NULL,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	loyalty_points BIGINT NOT NULL,
	discrepancy BOOLEAN NOT NULL,
	evaluated_at TIMESTAMP WITH TIME ZONE NOT NULL,
	confirmed_at TIMESTAMP WITH TIME ZONE NOT NULL,
	source VARCHAR(20) COLLATE "C" NOT NULL,
	instance_id VARCHAR(36) COLLATE "C",
	message VARCHAR(1000) COLLATE "C",
	origin VARCHAR(36) COLLATE "C" NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	pos_group_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_calculation_logs__key PRIMARY KEY (tenant_id, id)
);

CREATE INDEX ix_calculation_logs__confirmed_at ON calculation_logs (tenant_id, confirmed_at);

CREATE INDEX ix_calculation_logs__customer_id_confirmed_at ON calculation_logs (tenant_id, customer_id, confirmed_at);

CREATE INDEX ix_calculation_logs__pos_group_id ON calculation_logs (tenant_id, pos_group_id);

CREATE INDEX ix_calculation_logs__transaction_id_origin_transaction_counter ON calculation_logs (tenant_id, transaction_id, origin, transaction_counter);

ALTER TABLE calculation_logs ENABLE ROW LEVEL SECURITY;

ALTER TABLE calculation_logs FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON calculation_logs
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE cancellations (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	origin VARCHAR(36) COLLATE "C" NOT NULL,
	transaction_id VARCHAR(50) COLLATE "C" NOT NULL,
	transaction_counter INTEGER NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	reason VARCHAR(255) COLLATE "C",
	response BYTEA NOT NULL,
	log_id VARCHAR(36) COLLATE "C",
	cancelled_at TIMESTAMP WITH TIME ZONE NOT NULL,
	reported BOOLEAN NOT NULL,
	CONSTRAINT pk_cancellations__key PRIMARY KEY (tenant_id, origin, transaction_id)
);

CREATE INDEX ix_cancellations__unreported ON cancellations (tenant_id, cancelled_at) WHERE NOT reported;

ALTER TABLE cancellations ENABLE ROW LEVEL SECURITY;

ALTER TABLE cancellations FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON cancellations
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE catalogue_changes (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	kind VARCHAR(30) COLLATE "C" NOT NULL,
	version BIGINT NOT NULL,
	entity_id VARCHAR(50) COLLATE "C" NOT NULL,
	others BYTEA,
	CONSTRAINT pk_catalogue_changes__key PRIMARY KEY (tenant_id, kind, version, entity_id)
);

ALTER TABLE catalogue_changes ENABLE ROW LEVEL SECURITY;

ALTER TABLE catalogue_changes FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON catalogue_changes
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE catalogue_versions (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotions BIGINT NOT NULL,
	articles BIGINT NOT NULL,
	changed_at TIMESTAMP WITH TIME ZONE,
	CONSTRAINT pk_catalogue_versions__key PRIMARY KEY (tenant_id)
);

ALTER TABLE catalogue_versions ENABLE ROW LEVEL SECURITY;

ALTER TABLE catalogue_versions FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON catalogue_versions
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE clients (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	code VARCHAR(50) COLLATE "C",
	client_id VARCHAR(100) COLLATE "C" NOT NULL,
	name VARCHAR(255) COLLATE "C",
	scopes TEXT NOT NULL,
	secret_digest VARCHAR(64) COLLATE "C",
	is_active BOOLEAN NOT NULL,
	rotated_at TIMESTAMP WITH TIME ZONE,
	former_digest VARCHAR(64) COLLATE "C",
	former_until TIMESTAMP WITH TIME ZONE,
	enrolment_digest VARCHAR(64) COLLATE "C",
	enrolment_until TIMESTAMP WITH TIME ZONE,
	tokens_from TIMESTAMP WITH TIME ZONE,
	last_used_at TIMESTAMP WITH TIME ZONE,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_clients__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT uq_clients__code UNIQUE (tenant_id, code),
	CONSTRAINT uq_clients__client_id UNIQUE (client_id)
);

ALTER TABLE clients ENABLE ROW LEVEL SECURITY;

ALTER TABLE clients FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON clients
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE clockwork (
	name VARCHAR(60) COLLATE "C" NOT NULL,
	due_at TIMESTAMP WITH TIME ZONE NOT NULL,
	last_run_at TIMESTAMP WITH TIME ZONE,
	cursor VARCHAR(1000) COLLATE "C",
	last_error VARCHAR(1000) COLLATE "C",
	lease_owner VARCHAR(100) COLLATE "C",
	lease_until TIMESTAMP WITH TIME ZONE,
	CONSTRAINT pk_clockwork__key PRIMARY KEY (name)
);

CREATE TABLE confirmations (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	origin VARCHAR(36) COLLATE "C" NOT NULL,
	transaction_id VARCHAR(50) COLLATE "C" NOT NULL,
	transaction_counter INTEGER NOT NULL,
	fingerprint BYTEA NOT NULL,
	response BYTEA NOT NULL,
	log_id VARCHAR(36) COLLATE "C",
	sale BYTEA,
	returned BYTEA,
	confirmed_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_confirmations__key PRIMARY KEY (tenant_id, transaction_id, origin)
);

ALTER TABLE confirmations ENABLE ROW LEVEL SECURITY;

ALTER TABLE confirmations FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON confirmations
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE coupon_claims (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	coupon_code_id VARCHAR(36) COLLATE "C" NOT NULL,
	slot INTEGER NOT NULL,
	coupon_type_id VARCHAR(36) COLLATE "C" NOT NULL,
	origin VARCHAR(36) COLLATE "C" NOT NULL,
	transaction_id VARCHAR(50) COLLATE "C" NOT NULL,
	transaction_counter INTEGER,
	customer_id VARCHAR(50) COLLATE "C",
	promotion_id VARCHAR(36) COLLATE "C",
	claimed_at TIMESTAMP WITH TIME ZONE NOT NULL,
	redeemed_at TIMESTAMP WITH TIME ZONE,
	CONSTRAINT pk_coupon_claims__key PRIMARY KEY (tenant_id, coupon_code_id, slot)
);

CREATE INDEX ix_coupon_claims__customer_id ON coupon_claims (tenant_id, customer_id) WHERE customer_id IS NOT NULL;

CREATE INDEX ix_coupon_claims__transaction ON coupon_claims (tenant_id, origin, transaction_id);

ALTER TABLE coupon_claims ENABLE ROW LEVEL SECURITY;

ALTER TABLE coupon_claims FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON coupon_claims
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE coupon_reservations (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	coupon_type_id VARCHAR(36) COLLATE "C" NOT NULL,
	coupon_code_id VARCHAR(36) COLLATE "C",
	transaction_id VARCHAR(50) COLLATE "C" NOT NULL,
	customer_id VARCHAR(50) COLLATE "C",
	state VARCHAR(10) COLLATE "C" NOT NULL,
	reserved_at TIMESTAMP WITH TIME ZONE NOT NULL,
	reserved_until TIMESTAMP WITH TIME ZONE NOT NULL,
	ended_at TIMESTAMP WITH TIME ZONE,
	CONSTRAINT pk_coupon_reservations__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_coupon_reservations__state CHECK (state IN ('HELD', 'REDEEMED', 'CANCELLED'))
);

CREATE INDEX ix_coupon_reservations__customer_id ON coupon_reservations (tenant_id, customer_id) WHERE customer_id IS NOT NULL;

CREATE INDEX ix_coupon_reservations__live ON coupon_reservations (tenant_id, coupon_type_id, state, reserved_until);

ALTER TABLE coupon_reservations ENABLE ROW LEVEL SECURITY;

ALTER TABLE coupon_reservations FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON coupon_reservations
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE coupon_type_counts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	coupon_type_id VARCHAR(36) COLLATE "C" NOT NULL,
	issued BIGINT NOT NULL,
	pooled BIGINT NOT NULL,
	created BIGINT NOT NULL,
	active BIGINT NOT NULL,
	reserved BIGINT NOT NULL,
	redeemed BIGINT NOT NULL,
	expired BIGINT NOT NULL,
	cancelled BIGINT NOT NULL,
	external BIGINT NOT NULL,
	examined_at TIMESTAMP WITH TIME ZONE NOT NULL,
	counted_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_coupon_type_counts__key PRIMARY KEY (tenant_id, coupon_type_id)
);

ALTER TABLE coupon_type_counts ENABLE ROW LEVEL SECURITY;

ALTER TABLE coupon_type_counts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON coupon_type_counts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE coupon_types (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	code VARCHAR(50) COLLATE "C" NOT NULL,
	name VARCHAR(255) COLLATE "C" NOT NULL,
	description VARCHAR(1000) COLLATE "C",
	status VARCHAR(30) COLLATE "C" NOT NULL,
	code_type VARCHAR(30) COLLATE "C" NOT NULL,
	generic_code VARCHAR(64) COLLATE "C",
	valid_from TIMESTAMP WITH TIME ZONE,
	valid_to TIMESTAMP WITH TIME ZONE,
	validity_days INTEGER,
	max_redemptions INTEGER,
	max_redemptions_per_customer INTEGER,
	reservation_minutes INTEGER NOT NULL,
	requires_activation BOOLEAN NOT NULL,
	on_return VARCHAR(30) COLLATE "C" NOT NULL,
	earned_on_return VARCHAR(30) COLLATE "C" NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_coupon_types__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_coupon_types__validity_days_min CHECK (validity_days >= 0),
	CONSTRAINT ck_coupon_types__max_redemptions_min CHECK (max_redemptions >= 0),
	CONSTRAINT ck_coupon_types__max_redemptions_per_customer_min CHECK (max_redemptions_per_customer >= 0),
	CONSTRAINT ck_coupon_types__reservation_minutes_min CHECK (reservation_minutes >= 1),
	CONSTRAINT uq_coupon_types__code UNIQUE (tenant_id, code),
	CONSTRAINT uq_coupon_types__generic_code UNIQUE (tenant_id, generic_code)
);

ALTER TABLE coupon_types ENABLE ROW LEVEL SECURITY;

ALTER TABLE coupon_types FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON coupon_types
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE coupon_usage (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	coupon_type_id VARCHAR(36) COLLATE "C" NOT NULL,
	customer_id VARCHAR(50) COLLATE "C" NOT NULL,
	count INTEGER NOT NULL,
	CONSTRAINT pk_coupon_usage__key PRIMARY KEY (tenant_id, coupon_type_id, customer_id),
	CONSTRAINT ck_coupon_usage__count CHECK (count >= 0)
);

CREATE INDEX ix_coupon_usage__customer_id ON coupon_usage (tenant_id, customer_id, coupon_type_id);

ALTER TABLE coupon_usage ENABLE ROW LEVEL SECURITY;

ALTER TABLE coupon_usage FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON coupon_usage
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE customer_erasure_keys (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	secret BYTEA NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	cloud_secret BYTEA,
	cloud_cursor VARCHAR(200) COLLATE "C",
	cloud_walk INTEGER,
	cloud_told BIGINT,
	cloud_searched BIGINT,
	CONSTRAINT pk_customer_erasure_keys__key PRIMARY KEY (tenant_id)
);

ALTER TABLE customer_erasure_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE customer_erasure_keys FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON customer_erasure_keys
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE customer_erasures (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	digest VARCHAR(64) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	customer_id VARCHAR(50) COLLATE "C",
	pseudonym VARCHAR(50) COLLATE "C",
	status VARCHAR(10) COLLATE "C" NOT NULL,
	requested_at TIMESTAMP WITH TIME ZONE NOT NULL,
	due_at TIMESTAMP WITH TIME ZONE NOT NULL,
	completed_at TIMESTAMP WITH TIME ZONE,
	changed_rows BIGINT NOT NULL,
	cloud_walk INTEGER,
	idle_since TIMESTAMP WITH TIME ZONE,
	CONSTRAINT pk_customer_erasures__key PRIMARY KEY (tenant_id, digest),
	CONSTRAINT ck_customer_erasures__status CHECK (status IN ('PENDING', 'COMPLETED'))
);

CREATE INDEX ix_customer_erasures__due ON customer_erasures (due_at) WHERE status = 'PENDING';

CREATE INDEX ix_customer_erasures__requested_at ON customer_erasures (tenant_id, requested_at, digest);

ALTER TABLE customer_erasures ENABLE ROW LEVEL SECURITY;

ALTER TABLE customer_erasures FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON customer_erasures
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE customer_groups (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	code VARCHAR(50) COLLATE "C" NOT NULL,
	name VARCHAR(255) COLLATE "C" NOT NULL,
	description VARCHAR(1000) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_customer_groups__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT uq_customer_groups__code UNIQUE (tenant_id, code)
);

ALTER TABLE customer_groups ENABLE ROW LEVEL SECURITY;

ALTER TABLE customer_groups FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON customer_groups
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	set_name VARCHAR(60) COLLATE "C" NOT NULL,
	root_id VARCHAR(36) COLLATE "C" NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C" NOT NULL,
	changed_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_drafts__key PRIMARY KEY (tenant_id, draft_uuid),
	CONSTRAINT uq_drafts__root UNIQUE (tenant_id, set_name, root_id)
);

CREATE INDEX ix_drafts__changed_at ON drafts (tenant_id, changed_at);

ALTER TABLE drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE forecast_customers (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	forecast_id VARCHAR(36) COLLATE "C" NOT NULL,
	customer_id VARCHAR(50) COLLATE "C" NOT NULL,
	sales INTEGER NOT NULL,
	CONSTRAINT pk_forecast_customers__key PRIMARY KEY (tenant_id, forecast_id, customer_id)
);

ALTER TABLE forecast_customers ENABLE ROW LEVEL SECURITY;

ALTER TABLE forecast_customers FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON forecast_customers
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE forecast_jobs (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	forecast_id VARCHAR(36) COLLATE "C" NOT NULL,
	slot INTEGER NOT NULL,
	plan BYTEA NOT NULL,
	tally BYTEA NOT NULL,
	recorded_until TIMESTAMP WITH TIME ZONE NOT NULL,
	cursor_at TIMESTAMP WITH TIME ZONE,
	cursor_id VARCHAR(36) COLLATE "C",
	due_at TIMESTAMP WITH TIME ZONE NOT NULL,
	attempts INTEGER NOT NULL,
	lease_owner VARCHAR(100) COLLATE "C",
	lease_until TIMESTAMP WITH TIME ZONE,
	CONSTRAINT pk_forecast_jobs__key PRIMARY KEY (tenant_id, forecast_id),
	CONSTRAINT uq_forecast_jobs__slot UNIQUE (tenant_id, slot)
);

ALTER TABLE forecast_jobs ENABLE ROW LEVEL SECURITY;

ALTER TABLE forecast_jobs FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON forecast_jobs
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE group_roles (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	group_name VARCHAR(255) COLLATE "C" NOT NULL,
	description VARCHAR(255) COLLATE "C",
	scopes TEXT NOT NULL,
	issuer VARCHAR(500) COLLATE "C" NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_group_roles__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT uq_group_roles__issuer_group_name UNIQUE (tenant_id, issuer, group_name)
);

ALTER TABLE group_roles ENABLE ROW LEVEL SECURITY;

ALTER TABLE group_roles FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON group_roles
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE import_jobs (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	entity VARCHAR(50) COLLATE "C" NOT NULL,
	source VARCHAR(30) COLLATE "C" NOT NULL,
	status VARCHAR(30) COLLATE "C" NOT NULL,
	total_rows INTEGER NOT NULL,
	rows_succeeded INTEGER NOT NULL,
	rows_failed INTEGER NOT NULL,
	rows_skipped INTEGER NOT NULL,
	continue_on_error BOOLEAN NOT NULL,
	idempotency_key VARCHAR(255) COLLATE "C",
	callback_url VARCHAR(2000) COLLATE "C",
	started_at TIMESTAMP WITH TIME ZONE,
	completed_at TIMESTAMP WITH TIME ZONE,
	message VARCHAR(2000) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_import_jobs__key PRIMARY KEY (tenant_id, id)
);

CREATE INDEX ix_import_jobs__completed_at ON import_jobs (tenant_id, completed_at);

CREATE INDEX ix_import_jobs__status_created_at ON import_jobs (tenant_id, status, created_at);

ALTER TABLE import_jobs ENABLE ROW LEVEL SECURITY;

ALTER TABLE import_jobs FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON import_jobs
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE import_keys (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	scope VARCHAR(20) COLLATE "C" NOT NULL,
	idempotency_key VARCHAR(255) COLLATE "C" NOT NULL,
	job_id VARCHAR(36) COLLATE "C" NOT NULL,
	digest BYTEA,
	seen_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_import_keys__key PRIMARY KEY (tenant_id, scope, idempotency_key)
);

CREATE INDEX ix_import_keys__seen ON import_keys (seen_at);

ALTER TABLE import_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE import_keys FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON import_keys
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE import_parts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	job_id VARCHAR(36) COLLATE "C" NOT NULL,
	part INTEGER NOT NULL,
	first_row INTEGER NOT NULL,
	row_count INTEGER NOT NULL,
	row_numbers TEXT,
	rows BYTEA NOT NULL,
	received_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_import_parts__key PRIMARY KEY (tenant_id, job_id, part)
);

CREATE INDEX ix_import_parts__received ON import_parts (received_at);

ALTER TABLE import_parts ENABLE ROW LEVEL SECURITY;

ALTER TABLE import_parts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON import_parts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE import_work (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	job_id VARCHAR(36) COLLATE "C" NOT NULL,
	source VARCHAR(20) COLLATE "C" NOT NULL,
	user_name VARCHAR(255) COLLATE "C" NOT NULL,
	enqueued_at TIMESTAMP WITH TIME ZONE NOT NULL,
	due_at TIMESTAMP WITH TIME ZONE NOT NULL,
	next_part INTEGER NOT NULL,
	attempts INTEGER NOT NULL,
	lease_owner VARCHAR(36) COLLATE "C",
	lease_until TIMESTAMP WITH TIME ZONE,
	CONSTRAINT pk_import_work__key PRIMARY KEY (tenant_id, job_id)
);

CREATE INDEX ix_import_work__due ON import_work (due_at);

CREATE INDEX ix_import_work__source ON import_work (tenant_id, source);

ALTER TABLE import_work ENABLE ROW LEVEL SECURITY;

ALTER TABLE import_work FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON import_work
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE instances (
	instance_id VARCHAR(36) COLLATE "C" NOT NULL,
	edition VARCHAR(20) COLLATE "C" NOT NULL,
	version VARCHAR(20) COLLATE "C" NOT NULL,
	started_at TIMESTAMP WITH TIME ZONE NOT NULL,
	seen_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_instances__key PRIMARY KEY (instance_id)
);

CREATE TABLE issue_keys (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	idempotency_key VARCHAR(255) COLLATE "C" NOT NULL,
	digest BYTEA NOT NULL,
	answer BYTEA NOT NULL,
	seen_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_issue_keys__key PRIMARY KEY (tenant_id, idempotency_key)
);

CREATE INDEX ix_issue_keys__seen ON issue_keys (seen_at);

ALTER TABLE issue_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE issue_keys FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON issue_keys
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE issue_windows (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	issued BYTEA NOT NULL,
	CONSTRAINT pk_issue_windows__key PRIMARY KEY (tenant_id)
);

ALTER TABLE issue_windows ENABLE ROW LEVEL SECURITY;

ALTER TABLE issue_windows FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON issue_windows
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE iteration_counters (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	origin VARCHAR(36) COLLATE "C" NOT NULL,
	transaction_id VARCHAR(50) COLLATE "C" NOT NULL,
	last_counter INTEGER NOT NULL,
	CONSTRAINT pk_iteration_counters__key PRIMARY KEY (tenant_id, origin, transaction_id)
);

ALTER TABLE iteration_counters ENABLE ROW LEVEL SECURITY;

ALTER TABLE iteration_counters FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON iteration_counters
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE iterations (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	origin VARCHAR(36) COLLATE "C" NOT NULL,
	transaction_id VARCHAR(50) COLLATE "C" NOT NULL,
	transaction_counter INTEGER NOT NULL,
	pos_group_id VARCHAR(36) COLLATE "C" NOT NULL,
	receipt_id VARCHAR(50) COLLATE "C",
	header_reference VARCHAR(100) COLLATE "C",
	evaluated_at TIMESTAMP WITH TIME ZONE NOT NULL,
	data_age TIMESTAMP WITH TIME ZONE,
	advice BYTEA,
	record BYTEA NOT NULL,
	base_counter INTEGER,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_iterations__key PRIMARY KEY (tenant_id, origin, transaction_id, transaction_counter)
);

CREATE INDEX ix_iterations__condemned ON iterations (created_at) WHERE transaction_counter < 0;

CREATE INDEX ix_iterations__created_at ON iterations (created_at);

ALTER TABLE iterations ENABLE ROW LEVEL SECURITY;

ALTER TABLE iterations FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON iterations
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE local_store (
	name VARCHAR(10) COLLATE "C" NOT NULL,
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	instance_id VARCHAR(36) COLLATE "C" NOT NULL,
	api_key VARCHAR(64) COLLATE "C" NOT NULL,
	password_hash VARCHAR(255) COLLATE "C",
	password_changed_at TIMESTAMP WITH TIME ZONE,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_local_store__key PRIMARY KEY (name)
);

CREATE TABLE loyalty_balances (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	customer_id VARCHAR(50) COLLATE "C" NOT NULL,
	points BIGINT NOT NULL,
	updated_at TIMESTAMP WITH TIME ZONE,
	CONSTRAINT pk_loyalty_balances__key PRIMARY KEY (tenant_id, customer_id)
);

ALTER TABLE loyalty_balances ENABLE ROW LEVEL SECURITY;

ALTER TABLE loyalty_balances FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON loyalty_balances
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE loyalty_tiers (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	code VARCHAR(50) COLLATE "C" NOT NULL,
	name VARCHAR(255) COLLATE "C" NOT NULL,
	description VARCHAR(1000) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_loyalty_tiers__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT uq_loyalty_tiers__code UNIQUE (tenant_id, code)
);

ALTER TABLE loyalty_tiers ENABLE ROW LEVEL SECURITY;

ALTER TABLE loyalty_tiers FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON loyalty_tiers
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE loyalty_transactions (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	customer_id VARCHAR(50) COLLATE "C" NOT NULL,
	transaction_id VARCHAR(50) COLLATE "C" NOT NULL,
	transaction_counter INTEGER NOT NULL,
	points BIGINT NOT NULL,
	balance_after BIGINT NOT NULL,
	awarded_at TIMESTAMP WITH TIME ZONE NOT NULL,
	origin VARCHAR(36) COLLATE "C" NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	promotion_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_loyalty_transactions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT uq_loyalty_transactions__origin_transaction_id_transac_669b8138 UNIQUE (tenant_id, origin, transaction_id, transaction_counter, promotion_id)
);

CREATE INDEX ix_loyalty_transactions__customer_id_awarded_at ON loyalty_transactions (tenant_id, customer_id, awarded_at);

ALTER TABLE loyalty_transactions ENABLE ROW LEVEL SECURITY;

ALTER TABLE loyalty_transactions FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON loyalty_transactions
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE mutual_exclusion_groups (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	code VARCHAR(50) COLLATE "C" NOT NULL,
	name VARCHAR(255) COLLATE "C" NOT NULL,
	description VARCHAR(1000) COLLATE "C",
	resolution_strategy VARCHAR(30) COLLATE "C" NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_mutual_exclusion_groups__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT uq_mutual_exclusion_groups__code UNIQUE (tenant_id, code)
);

ALTER TABLE mutual_exclusion_groups ENABLE ROW LEVEL SECURITY;

ALTER TABLE mutual_exclusion_groups FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON mutual_exclusion_groups
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE notification_logs (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	event_id VARCHAR(36) COLLATE "C",
	event_type VARCHAR(60) COLLATE "C" NOT NULL,
	callback_url VARCHAR(2000) COLLATE "C" NOT NULL,
	status VARCHAR(30) COLLATE "C" NOT NULL,
	attempts INTEGER NOT NULL,
	http_status INTEGER,
	last_error VARCHAR(1000) COLLATE "C",
	response_body VARCHAR(1000) COLLATE "C",
	duration_in_ms INTEGER,
	last_attempt_at TIMESTAMP WITH TIME ZONE,
	next_attempt_at TIMESTAMP WITH TIME ZONE,
	delivered_at TIMESTAMP WITH TIME ZONE,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	subscription_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_notification_logs__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT uq_notification_logs__event_id_subscription_id UNIQUE (tenant_id, event_id, subscription_id)
);

CREATE INDEX ix_notification_logs__created_at ON notification_logs (tenant_id, created_at);

CREATE INDEX ix_notification_logs__event_type_created_at ON notification_logs (tenant_id, event_type, created_at);

CREATE INDEX ix_notification_logs__status_created_at ON notification_logs (tenant_id, status, created_at);

CREATE INDEX ix_notification_logs__subscription_id_created_at ON notification_logs (tenant_id, subscription_id, created_at);

ALTER TABLE notification_logs ENABLE ROW LEVEL SECURITY;

ALTER TABLE notification_logs FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON notification_logs
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE outbox_events (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	kind VARCHAR(60) COLLATE "C" NOT NULL,
	payload BYTEA NOT NULL,
	callback_url VARCHAR(2000) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	dispatched_at TIMESTAMP WITH TIME ZONE,
	traceparent VARCHAR(55) COLLATE "C",
	CONSTRAINT pk_outbox_events__key PRIMARY KEY (tenant_id, id)
);

CREATE INDEX ix_outbox_events__created ON outbox_events (tenant_id, created_at, kind);

CREATE INDEX ix_outbox_events__waiting ON outbox_events (created_at, id) WHERE dispatched_at IS NULL;

ALTER TABLE outbox_events ENABLE ROW LEVEL SECURITY;

ALTER TABLE outbox_events FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON outbox_events
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE people (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	user_name VARCHAR(100) COLLATE "C" NOT NULL,
	name VARCHAR(255) COLLATE "C",
	scopes TEXT NOT NULL,
	invitation_digest VARCHAR(64) COLLATE "C",
	is_active BOOLEAN NOT NULL,
	code_required BOOLEAN NOT NULL,
	invited_until TIMESTAMP WITH TIME ZONE,
	password_since TIMESTAMP WITH TIME ZONE,
	code_since TIMESTAMP WITH TIME ZONE,
	last_sign_in_at TIMESTAMP WITH TIME ZONE,
	tokens_from TIMESTAMP WITH TIME ZONE,
	password_hash VARCHAR(255) COLLATE "C",
	code_key VARCHAR(64) COLLATE "C",
	code_step INTEGER,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_people__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT uq_people__user_name UNIQUE (tenant_id, user_name),
	CONSTRAINT uq_people__invitation_digest UNIQUE (invitation_digest)
);

ALTER TABLE people ENABLE ROW LEVEL SECURITY;

ALTER TABLE people FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON people
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE person_sessions (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	person_id VARCHAR(36) COLLATE "C" NOT NULL,
	secret_digest VARCHAR(64) COLLATE "C" NOT NULL,
	former_digest VARCHAR(64) COLLATE "C",
	former_until TIMESTAMP WITH TIME ZONE,
	began_at TIMESTAMP WITH TIME ZONE NOT NULL,
	renewed_at TIMESTAMP WITH TIME ZONE NOT NULL,
	ends_at TIMESTAMP WITH TIME ZONE NOT NULL,
	browser VARCHAR(40) COLLATE "C",
	CONSTRAINT pk_person_sessions__key PRIMARY KEY (tenant_id, id)
);

CREATE INDEX ix_person_sessions__id ON person_sessions (id);

CREATE INDEX ix_person_sessions__person_id ON person_sessions (tenant_id, person_id);

ALTER TABLE person_sessions ENABLE ROW LEVEL SECURITY;

ALTER TABLE person_sessions FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON person_sessions
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE pilot_tallies (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	basis VARCHAR(64) COLLATE "C" NOT NULL,
	begun_at TIMESTAMP WITH TIME ZONE NOT NULL,
	counted_until TIMESTAMP WITH TIME ZONE NOT NULL,
	sums BYTEA NOT NULL,
	CONSTRAINT pk_pilot_tallies__key PRIMARY KEY (tenant_id, promotion_id)
);

ALTER TABLE pilot_tallies ENABLE ROW LEVEL SECURITY;

ALTER TABLE pilot_tallies FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON pilot_tallies
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE pos_groups (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	code VARCHAR(20) COLLATE "C" NOT NULL,
	name VARCHAR(255) COLLATE "C" NOT NULL,
	description VARCHAR(1000) COLLATE "C",
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	time_zone VARCHAR(64) COLLATE "C" NOT NULL,
	country VARCHAR(2) COLLATE "C",
	is_active BOOLEAN NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	parent_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_pos_groups__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_pos_groups__parent_id FOREIGN KEY(tenant_id, parent_id) REFERENCES pos_groups (tenant_id, id),
	CONSTRAINT uq_pos_groups__code UNIQUE (tenant_id, code)
);

CREATE INDEX ix_pos_groups__parent_id ON pos_groups (tenant_id, parent_id);

ALTER TABLE pos_groups ENABLE ROW LEVEL SECURITY;

ALTER TABLE pos_groups FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON pos_groups
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE priority_groups (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	code VARCHAR(50) COLLATE "C" NOT NULL,
	name VARCHAR(255) COLLATE "C" NOT NULL,
	description VARCHAR(1000) COLLATE "C",
	priority INTEGER NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_priority_groups__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT uq_priority_groups__code UNIQUE (tenant_id, code)
);

ALTER TABLE priority_groups ENABLE ROW LEVEL SECURITY;

ALTER TABLE priority_groups FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON priority_groups
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_ab_comparison (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	arm VARCHAR(30) COLLATE "C" NOT NULL,
	transactions BIGINT NOT NULL,
	avg_basket NUMERIC(18, 3),
	conversion_rate NUMERIC(5, 2),
	uplift NUMERIC(18, 2),
	p_value NUMERIC(11, 10),
	is_significant BOOLEAN,
	adjusted_uplift NUMERIC(18, 2),
	adjusted_p_value NUMERIC(11, 10),
	adjusted_is_significant BOOLEAN,
	conversion_uplift NUMERIC(18, 2),
	conversion_p_value NUMERIC(11, 10),
	currency VARCHAR(3) COLLATE "C",
	conversions BIGINT NOT NULL,
	revenue NUMERIC(18, 3),
	total_discount NUMERIC(18, 3),
	avg_basket_low NUMERIC(18, 3),
	avg_basket_high NUMERIC(18, 3),
	conversion_rate_low NUMERIC(5, 2),
	conversion_rate_high NUMERIC(5, 2),
	significance_level NUMERIC(4, 3),
	trial VARCHAR(30) COLLATE "C" NOT NULL,
	computed_at TIMESTAMP WITH TIME ZONE NOT NULL,
	kept_name VARCHAR(255) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_ab_comparison__key PRIMARY KEY (tenant_id, promotion_id, arm),
	CONSTRAINT ck_promotion_ab_comparison__conversion_rate_min CHECK (conversion_rate >= 0),
	CONSTRAINT ck_promotion_ab_comparison__conversion_rate_max CHECK (conversion_rate <= 100),
	CONSTRAINT ck_promotion_ab_comparison__conversion_rate_low_min CHECK (conversion_rate_low >= 0),
	CONSTRAINT ck_promotion_ab_comparison__conversion_rate_low_max CHECK (conversion_rate_low <= 100),
	CONSTRAINT ck_promotion_ab_comparison__conversion_rate_high_min CHECK (conversion_rate_high >= 0),
	CONSTRAINT ck_promotion_ab_comparison__conversion_rate_high_max CHECK (conversion_rate_high <= 100)
);

ALTER TABLE promotion_ab_comparison ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_ab_comparison FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_ab_comparison
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_approvals (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_name VARCHAR(255) COLLATE "C" NOT NULL,
	status VARCHAR(30) COLLATE "C" NOT NULL,
	submitted_at TIMESTAMP WITH TIME ZONE NOT NULL,
	submitted_by VARCHAR(255) COLLATE "C" NOT NULL,
	forecast_cost NUMERIC(18, 3),
	currency VARCHAR(3) COLLATE "C",
	decided_at TIMESTAMP WITH TIME ZONE,
	decided_by VARCHAR(255) COLLATE "C",
	reason VARCHAR(1000) COLLATE "C",
	content_hash VARCHAR(64) COLLATE "C" NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_approvals__key PRIMARY KEY (tenant_id, id)
);

CREATE INDEX ix_promotion_approvals__promotion_id_submitted_at ON promotion_approvals (tenant_id, promotion_id, submitted_at);

CREATE INDEX ix_promotion_approvals__status_submitted_at ON promotion_approvals (tenant_id, status, submitted_at);

ALTER TABLE promotion_approvals ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_approvals FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_approvals
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_article_sums (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	article_number VARCHAR(50) COLLATE "C" NOT NULL,
	applications BIGINT NOT NULL,
	total_discount NUMERIC(18, 3) NOT NULL,
	rank INTEGER,
	CONSTRAINT pk_promotion_article_sums__key PRIMARY KEY (tenant_id, promotion_id, currency, article_number)
);

CREATE INDEX ix_promotion_article_sums__of_promotion ON promotion_article_sums (tenant_id, promotion_id, currency, rank) WHERE rank IS NOT NULL;

CREATE INDEX ix_promotion_article_sums__rank ON promotion_article_sums (tenant_id, rank, promotion_id, currency) WHERE rank <> 0;

ALTER TABLE promotion_article_sums ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_article_sums FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_article_sums
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_authors (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	author VARCHAR(255) COLLATE "C" NOT NULL,
	CONSTRAINT pk_promotion_authors__key PRIMARY KEY (tenant_id, promotion_id, author)
);

ALTER TABLE promotion_authors ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_authors FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_authors
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_definitions (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	hash VARCHAR(64) COLLATE "C" NOT NULL,
	body BYTEA NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_promotion_definitions__key PRIMARY KEY (tenant_id, hash)
);

ALTER TABLE promotion_definitions ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_definitions FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_definitions
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_discount_distribution (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	bucket_from NUMERIC(18, 3) NOT NULL,
	bucket_to NUMERIC(18, 3) NOT NULL,
	transactions BIGINT NOT NULL,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_discount_distribution__key PRIMARY KEY (tenant_id, promotion_id, bucket_from, currency)
);

ALTER TABLE promotion_discount_distribution ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_discount_distribution FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_discount_distribution
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_forecasts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_name VARCHAR(255) COLLATE "C" NOT NULL,
	promotion_version INTEGER NOT NULL,
	content_hash VARCHAR(64) COLLATE "C",
	date_from DATE,
	date_to DATE,
	status VARCHAR(30) COLLATE "C" NOT NULL,
	progress INTEGER NOT NULL,
	baskets_total INTEGER,
	baskets_replayed INTEGER NOT NULL,
	baskets_skipped INTEGER NOT NULL,
	baskets_affected INTEGER NOT NULL,
	applications BIGINT NOT NULL,
	customers_affected INTEGER NOT NULL,
	points BIGINT NOT NULL,
	message VARCHAR(1000) COLLATE "C",
	started_at TIMESTAMP WITH TIME ZONE,
	completed_at TIMESTAMP WITH TIME ZONE,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_forecasts__key PRIMARY KEY (tenant_id, id)
);

CREATE INDEX ix_promotion_forecasts__created_at ON promotion_forecasts (tenant_id, created_at);

CREATE INDEX ix_promotion_forecasts__promotion_id_created_at ON promotion_forecasts (tenant_id, promotion_id, created_at);

ALTER TABLE promotion_forecasts ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_forecasts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_forecasts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_hour_of_day (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	weekday INTEGER NOT NULL,
	hour INTEGER NOT NULL,
	transactions BIGINT NOT NULL,
	total_discount NUMERIC(18, 3) NOT NULL,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_hour_of_day__key PRIMARY KEY (tenant_id, promotion_id, weekday, hour, currency),
	CONSTRAINT ck_promotion_hour_of_day__weekday_min CHECK (weekday >= 1),
	CONSTRAINT ck_promotion_hour_of_day__weekday_max CHECK (weekday <= 7),
	CONSTRAINT ck_promotion_hour_of_day__hour_min CHECK (hour >= 0),
	CONSTRAINT ck_promotion_hour_of_day__hour_max CHECK (hour <= 23)
);

CREATE INDEX ix_promotion_hour_of_day__promotion_id_total_discount ON promotion_hour_of_day (tenant_id, promotion_id, total_discount);

CREATE INDEX ix_promotion_hour_of_day__total_discount ON promotion_hour_of_day (tenant_id, total_discount);

ALTER TABLE promotion_hour_of_day ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_hour_of_day FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_hour_of_day
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_hours_due (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	CONSTRAINT pk_promotion_hours_due__key PRIMARY KEY (tenant_id, promotion_id, currency)
);

ALTER TABLE promotion_hours_due ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_hours_due FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_hours_due
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_performance (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	applications_count BIGINT NOT NULL,
	total_discount_given NUMERIC(18, 3),
	first_applied_at TIMESTAMP WITH TIME ZONE NOT NULL,
	last_applied_at TIMESTAMP WITH TIME ZONE NOT NULL,
	currency VARCHAR(3) COLLATE "C",
	logged_name VARCHAR(255) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_performance__key PRIMARY KEY (tenant_id, promotion_id)
);

ALTER TABLE promotion_performance ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_performance FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_performance
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_performance_by_currency (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	applications_count BIGINT NOT NULL,
	total_discount_given NUMERIC(18, 3) NOT NULL,
	first_applied_at TIMESTAMP WITH TIME ZONE NOT NULL,
	last_applied_at TIMESTAMP WITH TIME ZONE NOT NULL,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_performance_by_currency__key PRIMARY KEY (tenant_id, promotion_id, currency)
);

ALTER TABLE promotion_performance_by_currency ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_performance_by_currency FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_performance_by_currency
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_places_due (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	fallen BOOLEAN NOT NULL,
	CONSTRAINT pk_promotion_places_due__key PRIMARY KEY (tenant_id, promotion_id)
);

ALTER TABLE promotion_places_due ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_places_due FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_places_due
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_pos_group_sums (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	pos_group_id VARCHAR(36) COLLATE "C" NOT NULL,
	applications BIGINT NOT NULL,
	total_discount NUMERIC(18, 3) NOT NULL,
	rank INTEGER,
	CONSTRAINT pk_promotion_pos_group_sums__key PRIMARY KEY (tenant_id, promotion_id, currency, pos_group_id)
);

CREATE INDEX ix_promotion_pos_group_sums__of_promotion ON promotion_pos_group_sums (tenant_id, promotion_id, currency, rank) WHERE rank IS NOT NULL;

CREATE INDEX ix_promotion_pos_group_sums__rank ON promotion_pos_group_sums (tenant_id, rank, promotion_id, currency) WHERE rank <> 0;

ALTER TABLE promotion_pos_group_sums ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_pos_group_sums FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_pos_group_sums
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_uplift_analysis (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	baseline_from DATE,
	baseline_to DATE,
	promotion_from DATE,
	promotion_to DATE,
	baseline_days INTEGER,
	promotion_days INTEGER,
	baseline_avg_basket NUMERIC(18, 3),
	promotion_avg_basket NUMERIC(18, 3),
	baseline_revenue_per_day NUMERIC(18, 3),
	promotion_revenue_per_day NUMERIC(18, 3),
	uplift_pct NUMERIC(18, 2),
	p_value NUMERIC(11, 10),
	is_significant BOOLEAN,
	revenue_per_day_uplift_pct NUMERIC(18, 2),
	revenue_per_day_p_value NUMERIC(11, 10),
	baseline_transactions BIGINT NOT NULL,
	promotion_transactions BIGINT NOT NULL,
	significance_level NUMERIC(4, 3),
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	currency VARCHAR(3) COLLATE "C",
	computed_at TIMESTAMP WITH TIME ZONE,
	kept_name VARCHAR(255) COLLATE "C",
	wanted_from DATE,
	first_applied_on DATE NOT NULL,
	is_stale BOOLEAN NOT NULL,
	due_at TIMESTAMP WITH TIME ZONE,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_uplift_analysis__key PRIMARY KEY (tenant_id, promotion_id)
);

CREATE INDEX ix_promotion_uplift_analysis__due_at ON promotion_uplift_analysis (tenant_id, due_at);

CREATE INDEX ix_promotion_uplift_analysis__is_stale_promotion_id ON promotion_uplift_analysis (tenant_id, is_stale, promotion_id);

ALTER TABLE promotion_uplift_analysis ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_uplift_analysis FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_uplift_analysis
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_uplift_by_currency (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	baseline_from DATE,
	baseline_to DATE,
	promotion_from DATE,
	promotion_to DATE,
	baseline_days INTEGER,
	promotion_days INTEGER,
	baseline_avg_basket NUMERIC(18, 3),
	promotion_avg_basket NUMERIC(18, 3),
	baseline_revenue_per_day NUMERIC(18, 3),
	promotion_revenue_per_day NUMERIC(18, 3),
	uplift_pct NUMERIC(18, 2),
	p_value NUMERIC(11, 10),
	is_significant BOOLEAN,
	revenue_per_day_uplift_pct NUMERIC(18, 2),
	revenue_per_day_p_value NUMERIC(11, 10),
	baseline_transactions BIGINT NOT NULL,
	promotion_transactions BIGINT NOT NULL,
	significance_level NUMERIC(4, 3),
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	computed_at TIMESTAMP WITH TIME ZONE NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_uplift_by_currency__key PRIMARY KEY (tenant_id, promotion_id, currency)
);

ALTER TABLE promotion_uplift_by_currency ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_uplift_by_currency FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_uplift_by_currency
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_usage (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	customer_id VARCHAR(50) COLLATE "C" NOT NULL,
	count INTEGER NOT NULL,
	CONSTRAINT pk_promotion_usage__key PRIMARY KEY (tenant_id, promotion_id, customer_id),
	CONSTRAINT ck_promotion_usage__count CHECK (count >= 0)
);

CREATE INDEX ix_promotion_usage__customer_id ON promotion_usage (tenant_id, customer_id, promotion_id);

ALTER TABLE promotion_usage ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_usage FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_usage
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_usage_by_day (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	day DATE NOT NULL,
	applications BIGINT NOT NULL,
	total_discount NUMERIC(18, 3) NOT NULL,
	transactions BIGINT NOT NULL,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_usage_by_day__key PRIMARY KEY (tenant_id, day, promotion_id, currency)
);

CREATE INDEX ix_promotion_usage_by_day__promotion_id_day_currency ON promotion_usage_by_day (tenant_id, promotion_id, day, currency);

CREATE INDEX ix_promotion_usage_by_day__promotion_id_total_discount ON promotion_usage_by_day (tenant_id, promotion_id, total_discount);

CREATE INDEX ix_promotion_usage_by_day__total_discount ON promotion_usage_by_day (tenant_id, total_discount);

ALTER TABLE promotion_usage_by_day ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_usage_by_day FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_usage_by_day
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_usage_by_day_and_hour (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	day DATE NOT NULL,
	hour INTEGER NOT NULL,
	weekday INTEGER NOT NULL,
	applications BIGINT NOT NULL,
	total_discount NUMERIC(18, 3) NOT NULL,
	transactions BIGINT NOT NULL,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_usage_by_day_and_hour__key PRIMARY KEY (tenant_id, day, promotion_id, hour, currency),
	CONSTRAINT ck_promotion_usage_by_day_and_hour__hour_min CHECK (hour >= 0),
	CONSTRAINT ck_promotion_usage_by_day_and_hour__hour_max CHECK (hour <= 23),
	CONSTRAINT ck_promotion_usage_by_day_and_hour__weekday_min CHECK (weekday >= 1),
	CONSTRAINT ck_promotion_usage_by_day_and_hour__weekday_max CHECK (weekday <= 7)
);

CREATE INDEX ix_promotion_usage_by_day_and_hour__promotion_id_day ON promotion_usage_by_day_and_hour (tenant_id, promotion_id, day);

ALTER TABLE promotion_usage_by_day_and_hour ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_usage_by_day_and_hour FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_usage_by_day_and_hour
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_usage_by_day_of_week (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	weekday INTEGER NOT NULL,
	applications BIGINT NOT NULL,
	total_discount NUMERIC(18, 3) NOT NULL,
	transactions BIGINT NOT NULL,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_usage_by_day_of_week__key PRIMARY KEY (tenant_id, promotion_id, weekday, currency),
	CONSTRAINT ck_promotion_usage_by_day_of_week__weekday_min CHECK (weekday >= 1),
	CONSTRAINT ck_promotion_usage_by_day_of_week__weekday_max CHECK (weekday <= 7)
);

ALTER TABLE promotion_usage_by_day_of_week ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_usage_by_day_of_week FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_usage_by_day_of_week
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_usage_by_hour (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	hour INTEGER NOT NULL,
	applications BIGINT NOT NULL,
	total_discount NUMERIC(18, 3) NOT NULL,
	transactions BIGINT NOT NULL,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_usage_by_hour__key PRIMARY KEY (tenant_id, promotion_id, hour, currency),
	CONSTRAINT ck_promotion_usage_by_hour__hour_min CHECK (hour >= 0),
	CONSTRAINT ck_promotion_usage_by_hour__hour_max CHECK (hour <= 23)
);

ALTER TABLE promotion_usage_by_hour ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_usage_by_hour FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_usage_by_hour
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_utc_days (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	day DATE NOT NULL,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	applications BIGINT NOT NULL,
	total_discount NUMERIC(18, 3) NOT NULL,
	first_applied_at TIMESTAMP WITH TIME ZONE NOT NULL,
	last_applied_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_promotion_utc_days__key PRIMARY KEY (tenant_id, day, promotion_id, currency)
);

ALTER TABLE promotion_utc_days ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_utc_days FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_utc_days
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_utc_months (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	month DATE NOT NULL,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	applications BIGINT NOT NULL,
	total_discount NUMERIC(18, 3) NOT NULL,
	first_applied_at TIMESTAMP WITH TIME ZONE NOT NULL,
	last_applied_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_promotion_utc_months__key PRIMARY KEY (tenant_id, month, promotion_id, currency)
);

ALTER TABLE promotion_utc_months ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_utc_months FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_utc_months
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE raw_payloads (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	message_id VARCHAR(255) COLLATE "C" NOT NULL,
	payload BYTEA NOT NULL,
	content_type VARCHAR(255) COLLATE "C" NOT NULL,
	received_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	job_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_raw_payloads__key PRIMARY KEY (tenant_id, id)
);

CREATE INDEX ix_raw_payloads__job_id ON raw_payloads (tenant_id, job_id);

CREATE INDEX ix_raw_payloads__message_id ON raw_payloads (tenant_id, message_id);

CREATE INDEX ix_raw_payloads__received_at ON raw_payloads (tenant_id, received_at);

ALTER TABLE raw_payloads ENABLE ROW LEVEL SECURITY;

ALTER TABLE raw_payloads FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON raw_payloads
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE record_dictionaries (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id BIGINT NOT NULL,
	content BYTEA NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_record_dictionaries__key PRIMARY KEY (tenant_id, id)
);

ALTER TABLE record_dictionaries ENABLE ROW LEVEL SECURITY;

ALTER TABLE record_dictionaries FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON record_dictionaries
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE redemption_logs (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	action VARCHAR(30) COLLATE "C" NOT NULL,
	transaction_id VARCHAR(50) COLLATE "C",
	customer_id VARCHAR(50) COLLATE "C",
	occurred_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	coupon_code_id VARCHAR(36) COLLATE "C",
	coupon_type_id VARCHAR(36) COLLATE "C",
	promotion_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_redemption_logs__key PRIMARY KEY (tenant_id, id)
);

CREATE INDEX ix_redemption_logs__coupon_code_id_occurred_at ON redemption_logs (tenant_id, coupon_code_id, occurred_at);

CREATE INDEX ix_redemption_logs__coupon_type_id_action ON redemption_logs (tenant_id, coupon_type_id, action);

CREATE INDEX ix_redemption_logs__customer_id_occurred_at ON redemption_logs (tenant_id, customer_id, occurred_at);

CREATE INDEX ix_redemption_logs__transaction_id ON redemption_logs (tenant_id, transaction_id NULLS FIRST);

ALTER TABLE redemption_logs ENABLE ROW LEVEL SECURITY;

ALTER TABLE redemption_logs FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON redemption_logs
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE report_state (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	portions BIGINT NOT NULL,
	refreshed_portions BIGINT NOT NULL,
	refreshed_at TIMESTAMP WITH TIME ZONE,
	rebuild VARCHAR(10) COLLATE "C",
	cursor_at TIMESTAMP WITH TIME ZONE,
	cursor_id VARCHAR(36) COLLATE "C",
	CONSTRAINT pk_report_state__key PRIMARY KEY (tenant_id)
);

ALTER TABLE report_state ENABLE ROW LEVEL SECURITY;

ALTER TABLE report_state FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON report_state
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE retention_marks (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	kind VARCHAR(20) COLLATE "C" NOT NULL,
	purged_before TIMESTAMP WITH TIME ZONE,
	spared_before TIMESTAMP WITH TIME ZONE,
	unchanged_since TIMESTAMP WITH TIME ZONE,
	archived_before TIMESTAMP WITH TIME ZONE,
	archived_at TIMESTAMP WITH TIME ZONE,
	CONSTRAINT pk_retention_marks__key PRIMARY KEY (tenant_id, kind)
);

ALTER TABLE retention_marks ENABLE ROW LEVEL SECURITY;

ALTER TABLE retention_marks FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON retention_marks
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE schema_compatibility (
	works_with VARCHAR(32) COLLATE "C" NOT NULL,
	CONSTRAINT pk_schema_compatibility__key PRIMARY KEY (works_with)
);

CREATE TABLE share_demand (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	kind VARCHAR(20) COLLATE "C" NOT NULL,
	entity_id VARCHAR(36) COLLATE "C" NOT NULL,
	forecast NUMERIC(18, 3) NOT NULL,
	halvings INTEGER NOT NULL,
	piece NUMERIC(18, 3) NOT NULL,
	changed_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_share_demand__key PRIMARY KEY (tenant_id, kind, entity_id)
);

CREATE INDEX ix_share_demand__changed ON share_demand (tenant_id, changed_at);

ALTER TABLE share_demand ENABLE ROW LEVEL SECURITY;

ALTER TABLE share_demand FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON share_demand
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE side_effect_jobs (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	origin VARCHAR(36) COLLATE "C" NOT NULL,
	transaction_id VARCHAR(50) COLLATE "C" NOT NULL,
	transaction_counter INTEGER NOT NULL,
	status VARCHAR(10) COLLATE "C" NOT NULL,
	payload BYTEA NOT NULL,
	enqueued_at TIMESTAMP WITH TIME ZONE NOT NULL,
	due_at TIMESTAMP WITH TIME ZONE NOT NULL,
	started_at TIMESTAMP WITH TIME ZONE,
	completed_at TIMESTAMP WITH TIME ZONE,
	attempts INTEGER NOT NULL,
	lease_owner VARCHAR(100) COLLATE "C",
	lease_until TIMESTAMP WITH TIME ZONE,
	coupons_redeemed INTEGER NOT NULL,
	budgets_consumed INTEGER NOT NULL,
	loyalty_points_earned BIGINT NOT NULL,
	post_purchase_coupons TEXT,
	reason VARCHAR(1000) COLLATE "C",
	reported BOOLEAN NOT NULL,
	traceparent VARCHAR(55) COLLATE "C",
	CONSTRAINT pk_side_effect_jobs__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT uq_side_effect_jobs__iteration UNIQUE (tenant_id, origin, transaction_id, transaction_counter),
	CONSTRAINT ck_side_effect_jobs__status CHECK (status IN ('PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'))
);

CREATE INDEX ix_side_effect_jobs__due ON side_effect_jobs (status, due_at);

CREATE INDEX ix_side_effect_jobs__unreported ON side_effect_jobs (tenant_id, enqueued_at) WHERE NOT reported;

ALTER TABLE side_effect_jobs ENABLE ROW LEVEL SECURITY;

ALTER TABLE side_effect_jobs FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON side_effect_jobs
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE signing_keys (
	kid VARCHAR(64) COLLATE "C" NOT NULL,
	algorithm VARCHAR(10) COLLATE "C" NOT NULL,
	private_key TEXT COLLATE "C" NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	retired_at TIMESTAMP WITH TIME ZONE,
	CONSTRAINT pk_signing_keys__key PRIMARY KEY (kid)
);

CREATE TABLE stakeholders (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	code VARCHAR(50) COLLATE "C" NOT NULL,
	name VARCHAR(255) COLLATE "C" NOT NULL,
	type VARCHAR(30) COLLATE "C" NOT NULL,
	contact_name VARCHAR(255) COLLATE "C",
	email VARCHAR(255) COLLATE "C",
	phone VARCHAR(50) COLLATE "C",
	is_active BOOLEAN NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_stakeholders__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT uq_stakeholders__code UNIQUE (tenant_id, code)
);

ALTER TABLE stakeholders ENABLE ROW LEVEL SECURITY;

ALTER TABLE stakeholders FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON stakeholders
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE store_shares (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	deployment_id VARCHAR(36) COLLATE "C" NOT NULL,
	kind VARCHAR(20) COLLATE "C" NOT NULL,
	entity_id VARCHAR(36) COLLATE "C" NOT NULL,
	outstanding NUMERIC(18, 3) NOT NULL,
	forecast NUMERIC(18, 3) NOT NULL,
	currency VARCHAR(3) COLLATE "C",
	reference VARCHAR(36) COLLATE "C",
	expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
	last_key VARCHAR(64) COLLATE "C",
	last_answer BYTEA,
	changed_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_store_shares__key PRIMARY KEY (tenant_id, deployment_id, kind, entity_id),
	CONSTRAINT ck_store_shares__outstanding CHECK (outstanding >= 0)
);

CREATE INDEX ix_store_shares__entity ON store_shares (tenant_id, kind, entity_id);

CREATE INDEX ix_store_shares__expiry ON store_shares (expires_at);

ALTER TABLE store_shares ENABLE ROW LEVEL SECURITY;

ALTER TABLE store_shares FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON store_shares
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE sync_link (
	name VARCHAR(10) COLLATE "C" NOT NULL,
	url VARCHAR(2000) COLLATE "C" NOT NULL,
	auth_url VARCHAR(2000) COLLATE "C" NOT NULL,
	client_id VARCHAR(255) COLLATE "C" NOT NULL,
	client_secret VARCHAR(1000) COLLATE "C" NOT NULL,
	next_secret VARCHAR(1000) COLLATE "C",
	store_code VARCHAR(50) COLLATE "C" NOT NULL,
	store_name VARCHAR(255) COLLATE "C",
	pos_group_code VARCHAR(20) COLLATE "C",
	interval_seconds INTEGER NOT NULL,
	changed_at TIMESTAMP WITH TIME ZONE NOT NULL,
	deployment_id VARCHAR(36) COLLATE "C",
	instance_id VARCHAR(36) COLLATE "C",
	cloud_tenant_id VARCHAR(36) COLLATE "C",
	cursor VARCHAR(500) COLLATE "C",
	last_sync_at TIMESTAMP WITH TIME ZONE,
	last_attempt_at TIMESTAMP WITH TIME ZONE,
	last_error VARCHAR(1000) COLLATE "C",
	CONSTRAINT pk_sync_link__key PRIMARY KEY (name)
);

CREATE TABLE sync_pages (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	page INTEGER NOT NULL,
	body BYTEA NOT NULL,
	received_at TIMESTAMP WITH TIME ZONE NOT NULL,
	CONSTRAINT pk_sync_pages__key PRIMARY KEY (tenant_id, page)
);

ALTER TABLE sync_pages ENABLE ROW LEVEL SECURITY;

ALTER TABLE sync_pages FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON sync_pages
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE sync_uploads (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	number BIGINT NOT NULL,
	kind VARCHAR(10) COLLATE "C" NOT NULL,
	subject_id VARCHAR(36) COLLATE "C" NOT NULL,
	transaction_id VARCHAR(50) COLLATE "C",
	transaction_counter INTEGER NOT NULL,
	payload BYTEA,
	happened_at TIMESTAMP WITH TIME ZONE NOT NULL,
	rejected_at TIMESTAMP WITH TIME ZONE,
	reason VARCHAR(1000) COLLATE "C",
	CONSTRAINT pk_sync_uploads__key PRIMARY KEY (tenant_id, number),
	CONSTRAINT uq_sync_uploads__subject UNIQUE (tenant_id, kind, subject_id)
);

ALTER TABLE sync_uploads ENABLE ROW LEVEL SECURITY;

ALTER TABLE sync_uploads FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON sync_uploads
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE tenants (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	name VARCHAR(255) COLLATE "C" NOT NULL,
	is_operator BOOLEAN NOT NULL,
	master_data_callback_url VARCHAR(2000) COLLATE "C",
	basic_for_readers BOOLEAN NOT NULL,
	code_required BOOLEAN,
	secret_days INTEGER,
	secret_overlap_hours INTEGER,
	secret_grace_days INTEGER,
	enable_production_nudges BOOLEAN NOT NULL,
	combination_strategy VARCHAR(30) COLLATE "C" NOT NULL,
	points_per_currency_unit NUMERIC(15, 3) NOT NULL,
	unmatched_returns VARCHAR(30) COLLATE "C" NOT NULL,
	counts_towards_threshold BOOLEAN,
	excluded_counts_towards_threshold BOOLEAN,
	significance_level NUMERIC(4, 3) NOT NULL,
	default_currency VARCHAR(3) COLLATE "C",
	approval VARCHAR(30) COLLATE "C" NOT NULL,
	approval_from_amount NUMERIC(15, 2),
	approval_currency VARCHAR(3) COLLATE "C",
	approver_scope VARCHAR(30) COLLATE "C" NOT NULL,
	agents_may_activate BOOLEAN NOT NULL,
	sales_log_days INTEGER,
	sales_logs_unarchived BOOLEAN,
	audit_log_days INTEGER,
	redemption_log_days INTEGER,
	idle_customer_days INTEGER,
	idle_points_lapse BOOLEAN,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_tenants__key PRIMARY KEY (tenant_id),
	CONSTRAINT ck_tenants__secret_days_min CHECK (secret_days >= 7),
	CONSTRAINT ck_tenants__secret_days_max CHECK (secret_days <= 3650),
	CONSTRAINT ck_tenants__secret_overlap_hours_min CHECK (secret_overlap_hours >= 1),
	CONSTRAINT ck_tenants__secret_overlap_hours_max CHECK (secret_overlap_hours <= 720),
	CONSTRAINT ck_tenants__secret_grace_days_min CHECK (secret_grace_days >= 1),
	CONSTRAINT ck_tenants__secret_grace_days_max CHECK (secret_grace_days <= 3650),
	CONSTRAINT ck_tenants__points_per_currency_unit_min CHECK (points_per_currency_unit >= 0),
	CONSTRAINT ck_tenants__significance_level_min CHECK (significance_level >= 0.001),
	CONSTRAINT ck_tenants__significance_level_max CHECK (significance_level <= 0.500),
	CONSTRAINT ck_tenants__approval_from_amount_min CHECK (approval_from_amount >= 0),
	CONSTRAINT ck_tenants__sales_log_days_min CHECK (sales_log_days >= 30),
	CONSTRAINT ck_tenants__sales_log_days_max CHECK (sales_log_days <= 36500),
	CONSTRAINT ck_tenants__audit_log_days_min CHECK (audit_log_days >= 365),
	CONSTRAINT ck_tenants__audit_log_days_max CHECK (audit_log_days <= 36500),
	CONSTRAINT ck_tenants__redemption_log_days_min CHECK (redemption_log_days >= 365),
	CONSTRAINT ck_tenants__redemption_log_days_max CHECK (redemption_log_days <= 36500),
	CONSTRAINT ck_tenants__idle_customer_days_min CHECK (idle_customer_days >= 30),
	CONSTRAINT ck_tenants__idle_customer_days_max CHECK (idle_customer_days <= 36500)
);

CREATE TABLE till_keys (
	name VARCHAR(50) COLLATE "C" NOT NULL,
	digest VARCHAR(64) COLLATE "C" NOT NULL,
	former_digest VARCHAR(64) COLLATE "C",
	former_until TIMESTAMP WITH TIME ZONE,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	rotated_at TIMESTAMP WITH TIME ZONE,
	last_used_at TIMESTAMP WITH TIME ZONE,
	CONSTRAINT pk_till_keys__key PRIMARY KEY (name)
);

CREATE TABLE trusted_names (
	name VARCHAR(300) COLLATE "C" NOT NULL,
	speaks_for VARCHAR(36) COLLATE "C" NOT NULL,
	added_at TIMESTAMP WITH TIME ZONE NOT NULL,
	added_by VARCHAR(255) COLLATE "C" NOT NULL,
	valid_until TIMESTAMP WITH TIME ZONE,
	CONSTRAINT pk_trusted_names__key PRIMARY KEY (name)
);

CREATE INDEX ix_trusted_names__tenant ON trusted_names (speaks_for);

CREATE TABLE webhook_queue (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	delivery_id VARCHAR(36) COLLATE "C" NOT NULL,
	lane VARCHAR(64) COLLATE "C" NOT NULL,
	event_id VARCHAR(36) COLLATE "C" NOT NULL,
	attempts INTEGER NOT NULL,
	due_at TIMESTAMP WITH TIME ZONE NOT NULL,
	lease_owner VARCHAR(100) COLLATE "C",
	lease_until TIMESTAMP WITH TIME ZONE,
	CONSTRAINT pk_webhook_queue__key PRIMARY KEY (tenant_id, delivery_id)
);

CREATE INDEX ix_webhook_queue__lane ON webhook_queue (lane, due_at);

ALTER TABLE webhook_queue ENABLE ROW LEVEL SECURITY;

ALTER TABLE webhook_queue FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON webhook_queue
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE webhook_subscriptions (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	name VARCHAR(255) COLLATE "C",
	callback_url VARCHAR(2000) COLLATE "C" NOT NULL,
	event_types TEXT NOT NULL,
	secret VARCHAR(255) COLLATE "C",
	is_active BOOLEAN NOT NULL,
	envelope VARCHAR(30) COLLATE "C" NOT NULL,
	description VARCHAR(1000) COLLATE "C",
	previous_secret VARCHAR(255) COLLATE "C",
	previous_secret_until TIMESTAMP WITH TIME ZONE,
	failure_count INTEGER NOT NULL,
	disabled_at TIMESTAMP WITH TIME ZONE,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_webhook_subscriptions__key PRIMARY KEY (tenant_id, id)
);

ALTER TABLE webhook_subscriptions ENABLE ROW LEVEL SECURITY;

ALTER TABLE webhook_subscriptions FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON webhook_subscriptions
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE article_groups_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	group_id VARCHAR(20) COLLATE "C",
	name VARCHAR(255) COLLATE "C",
	description VARCHAR(1000) COLLATE "C",
	type VARCHAR(30) COLLATE "C",
	source VARCHAR(30) COLLATE "C",
	never_discounted VARCHAR(30) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	parent_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_article_groups_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_article_groups_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_article_groups_drafts__draft ON article_groups_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_article_groups_drafts__owner ON article_groups_drafts (tenant_id, draft_owner);

ALTER TABLE article_groups_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE article_groups_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON article_groups_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE article_import_job_items (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	article_number VARCHAR(50) COLLATE "C",
	status VARCHAR(30) COLLATE "C",
	error VARCHAR(2000) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	job_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_article_import_job_items__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_article_import_job_items__job_id FOREIGN KEY(tenant_id, job_id) REFERENCES article_import_jobs (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_article_import_job_items__job_id ON article_import_job_items (tenant_id, job_id);

ALTER TABLE article_import_job_items ENABLE ROW LEVEL SECURITY;

ALTER TABLE article_import_job_items FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON article_import_job_items
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE articles (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	article_number VARCHAR(50) COLLATE "C" NOT NULL,
	name VARCHAR(255) COLLATE "C",
	description VARCHAR(1000) COLLATE "C",
	ean VARCHAR(18) COLLATE "C",
	manufacturer VARCHAR(255) COLLATE "C",
	manufacturer_id VARCHAR(255) COLLATE "C",
	category VARCHAR(100) COLLATE "C",
	article_group_key VARCHAR(20) COLLATE "C",
	base_price NUMERIC(15, 2),
	currency VARCHAR(3) COLLATE "C",
	unit VARCHAR(10) COLLATE "C" NOT NULL,
	source VARCHAR(30) COLLATE "C" NOT NULL,
	is_active BOOLEAN NOT NULL,
	never_discounted VARCHAR(30) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	article_group_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_articles__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_articles__base_price_min CHECK (base_price >= 0),
	CONSTRAINT fk_articles__article_group_id FOREIGN KEY(tenant_id, article_group_id) REFERENCES article_groups (tenant_id, id),
	CONSTRAINT uq_articles__article_number UNIQUE (tenant_id, article_number)
);

CREATE INDEX ix_articles__article_group_id ON articles (tenant_id, article_group_id);

CREATE INDEX ix_articles__article_group_key ON articles (tenant_id, article_group_key NULLS FIRST);

CREATE INDEX ix_articles__ean ON articles (tenant_id, ean NULLS FIRST);

CREATE INDEX ix_articles__name ON articles (tenant_id, name NULLS FIRST);

ALTER TABLE articles ENABLE ROW LEVEL SECURITY;

ALTER TABLE articles FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON articles
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE articles_texts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	text TEXT COLLATE "C" NOT NULL,
	CONSTRAINT pk_articles_texts__key PRIMARY KEY (id, tenant_id)
);

ALTER TABLE articles_texts ENABLE ROW LEVEL SECURITY;

CREATE FUNCTION articles_texts_keep() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
	IF TG_OP = 'INSERT' THEN
		INSERT INTO articles_texts (tenant_id, id, text) SELECT n.tenant_id, n.id, translate(lower((coalesce(n.article_number, '') || chr(10) || coalesce(n.name, '') || chr(10) || coalesce(n.description, '') || chr(10) || coalesce(n.ean, '') || chr(10) || coalesce(n.manufacturer, '') || chr(10) || coalesce(n.manufacturer_id, '') || chr(10) || coalesce(n.category, '')) COLLATE "C"), 'ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞ', 'àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþ') FROM new_rows AS n
		ON CONFLICT (id, tenant_id) DO UPDATE SET text = excluded.text;
	ELSIF TG_OP = 'UPDATE' THEN
		INSERT INTO articles_texts (tenant_id, id, text) SELECT n.tenant_id, n.id, translate(lower((coalesce(n.article_number, '') || chr(10) || coalesce(n.name, '') || chr(10) || coalesce(n.description, '') || chr(10) || coalesce(n.ean, '') || chr(10) || coalesce(n.manufacturer, '') || chr(10) || coalesce(n.manufacturer_id, '') || chr(10) || coalesce(n.category, '')) COLLATE "C"), 'ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞ', 'àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþ')
		FROM new_rows AS n JOIN old_rows AS o ON o.id = n.id AND o.tenant_id = n.tenant_id
		WHERE (n.article_number, n.name, n.description, n.ean, n.manufacturer, n.manufacturer_id, n.category) IS DISTINCT FROM (o.article_number, o.name, o.description, o.ean, o.manufacturer, o.manufacturer_id, o.category)
		ON CONFLICT (id, tenant_id) DO UPDATE SET text = excluded.text;
	ELSE
		DELETE FROM articles_texts AS t USING old_rows AS o WHERE t.id = o.id AND t.tenant_id = o.tenant_id;
	END IF;
	RETURN NULL;
END
$$;

CREATE TRIGGER articles_texts_insert AFTER INSERT ON articles
	REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION articles_texts_keep();

ALTER TABLE articles ENABLE ALWAYS TRIGGER articles_texts_insert;

CREATE TRIGGER articles_texts_update AFTER UPDATE ON articles
	REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION articles_texts_keep();

ALTER TABLE articles ENABLE ALWAYS TRIGGER articles_texts_update;

CREATE TRIGGER articles_texts_delete AFTER DELETE ON articles
	REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION articles_texts_keep();

ALTER TABLE articles ENABLE ALWAYS TRIGGER articles_texts_delete;

CREATE FUNCTION articles_by_texts(needed text, most integer) RETURNS text LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
DECLARE
	tenant text := current_setting('promenade.tenant', true);
	condition text;
	keys text;
BEGIN
	IF coalesce(tenant, '') = '' OR to_regclass('ix_articles_texts__text') IS NULL THEN
		RETURN NULL;
	END IF;
	SELECT string_agg('(' || (
		SELECT string_agg(format('text LIKE %L', '%' || regexp_replace(part, '([\\%_])', '\\\1', 'g') || '%'), ' AND ')
		FROM json_array_elements_text(alternative) AS part
	) || ')', ' OR ') INTO condition FROM json_array_elements(needed::json) AS alternative;
	EXECUTE 'SELECT CASE WHEN count(*) <= $1 THEN coalesce(json_agg(id)::text, ''[]'') END FROM (SELECT id FROM articles_texts'
		|| ' WHERE ($2 = ''*'' OR tenant_id || '''' = $2) AND (' || condition || ') LIMIT $1 + 1) AS those'
		INTO keys USING most, tenant;
	RETURN keys;
END
$$;

REVOKE ALL ON FUNCTION articles_by_texts(text, integer) FROM PUBLIC;

DO $$
BEGIN
	EXECUTE format('ALTER FUNCTION articles_texts_keep() SET search_path = %I, pg_temp', current_schema());
	EXECUTE format('ALTER FUNCTION articles_by_texts(text, integer) SET search_path = %I, pg_temp', current_schema());
	BEGIN
		CREATE EXTENSION IF NOT EXISTS pg_trgm;
	EXCEPTION WHEN OTHERS THEN
		RAISE NOTICE 'searches in articles will be slow without the extension pg_trgm: %', SQLERRM;
	END;
	IF EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm') THEN
		CREATE INDEX ix_articles_texts__text ON articles_texts USING gin (text gin_trgm_ops);
	END IF;
END
$$;

CREATE TABLE articles_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	article_number VARCHAR(50) COLLATE "C",
	name VARCHAR(255) COLLATE "C",
	description VARCHAR(1000) COLLATE "C",
	ean VARCHAR(18) COLLATE "C",
	manufacturer VARCHAR(255) COLLATE "C",
	manufacturer_id VARCHAR(255) COLLATE "C",
	category VARCHAR(100) COLLATE "C",
	article_group_key VARCHAR(20) COLLATE "C",
	base_price NUMERIC(15, 2),
	currency VARCHAR(3) COLLATE "C",
	unit VARCHAR(10) COLLATE "C",
	source VARCHAR(30) COLLATE "C",
	is_active BOOLEAN,
	never_discounted VARCHAR(30) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	article_group_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_articles_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_articles_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_articles_drafts__draft ON articles_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_articles_drafts__owner ON articles_drafts (tenant_id, draft_owner);

ALTER TABLE articles_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE articles_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON articles_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE budget_consumptions (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	transaction_id VARCHAR(50) COLLATE "C" NOT NULL,
	transaction_counter INTEGER NOT NULL,
	amount NUMERIC(18, 3) NOT NULL,
	uncovered_amount NUMERIC(18, 3) NOT NULL,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	consumed_at TIMESTAMP WITH TIME ZONE NOT NULL,
	is_cancellation BOOLEAN NOT NULL,
	origin VARCHAR(36) COLLATE "C" NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	budget_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_budget_consumptions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_budget_consumptions__budget_id FOREIGN KEY(tenant_id, budget_id) REFERENCES budgets (tenant_id, id),
	CONSTRAINT uq_budget_consumptions__budget_id_origin_transaction_i_1ce1dfca UNIQUE (tenant_id, budget_id, origin, transaction_id, transaction_counter, promotion_id, is_cancellation)
);

CREATE INDEX ix_budget_consumptions__origin_transaction_id ON budget_consumptions (tenant_id, origin, transaction_id);

ALTER TABLE budget_consumptions ENABLE ROW LEVEL SECURITY;

ALTER TABLE budget_consumptions FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON budget_consumptions
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE budget_notifications (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	threshold_percentage NUMERIC(5, 2) NOT NULL,
	last_notified_at TIMESTAMP WITH TIME ZONE,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	budget_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_budget_notifications__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_budget_notifications__threshold_percentage_min CHECK (threshold_percentage >= 0),
	CONSTRAINT ck_budget_notifications__threshold_percentage_max CHECK (threshold_percentage <= 100),
	CONSTRAINT fk_budget_notifications__budget_id FOREIGN KEY(tenant_id, budget_id) REFERENCES budgets (tenant_id, id),
	CONSTRAINT uq_budget_notifications__budget_id_threshold_percentage UNIQUE (tenant_id, budget_id, threshold_percentage)
);

ALTER TABLE budget_notifications ENABLE ROW LEVEL SECURITY;

ALTER TABLE budget_notifications FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON budget_notifications
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE budget_stakeholders (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	share_percentage NUMERIC(5, 2) NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	budget_id VARCHAR(36) COLLATE "C" NOT NULL,
	stakeholder_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_budget_stakeholders__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_budget_stakeholders__share_percentage_min CHECK (share_percentage >= 0),
	CONSTRAINT ck_budget_stakeholders__share_percentage_max CHECK (share_percentage <= 100),
	CONSTRAINT fk_budget_stakeholders__budget_id FOREIGN KEY(tenant_id, budget_id) REFERENCES budgets (tenant_id, id),
	CONSTRAINT fk_budget_stakeholders__stakeholder_id FOREIGN KEY(tenant_id, stakeholder_id) REFERENCES stakeholders (tenant_id, id),
	CONSTRAINT uq_budget_stakeholders__budget_id_stakeholder_id UNIQUE (tenant_id, budget_id, stakeholder_id)
);

CREATE INDEX ix_budget_stakeholders__stakeholder_id ON budget_stakeholders (tenant_id, stakeholder_id);

ALTER TABLE budget_stakeholders ENABLE ROW LEVEL SECURITY;

ALTER TABLE budget_stakeholders FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON budget_stakeholders
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE budgets_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	code VARCHAR(50) COLLATE "C",
	name VARCHAR(255) COLLATE "C",
	description VARCHAR(1000) COLLATE "C",
	status VARCHAR(30) COLLATE "C",
	total_amount NUMERIC(16, 3),
	consumed_amount NUMERIC(18, 3),
	reserved_amount NUMERIC(18, 3),
	currency VARCHAR(3) COLLATE "C",
	valid_from TIMESTAMP WITH TIME ZONE,
	valid_to TIMESTAMP WITH TIME ZONE,
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_budgets_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_budgets_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_budgets_drafts__draft ON budgets_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_budgets_drafts__owner ON budgets_drafts (tenant_id, draft_owner);

ALTER TABLE budgets_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE budgets_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON budgets_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE calculation_configs_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	mode VARCHAR(30) COLLATE "C",
	rounding VARCHAR(30) COLLATE "C",
	precision INTEGER,
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	promotion_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_calculation_configs_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_calculation_configs_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_calculation_configs_drafts__draft ON calculation_configs_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_calculation_configs_drafts__parent ON calculation_configs_drafts (tenant_id, promotion_id);

ALTER TABLE calculation_configs_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE calculation_configs_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON calculation_configs_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE calculation_log_parts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	log_id VARCHAR(36) COLLATE "C" NOT NULL,
	block INTEGER NOT NULL,
	lines VARCHAR NOT NULL,
	promotions VARCHAR NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	CONSTRAINT pk_calculation_log_parts__key PRIMARY KEY (tenant_id, log_id),
	CONSTRAINT fk_calculation_log_parts__log_id FOREIGN KEY(tenant_id, log_id) REFERENCES calculation_logs (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_calculation_log_parts__block ON calculation_log_parts (tenant_id, block);

ALTER TABLE calculation_log_parts ENABLE ROW LEVEL SECURITY;

ALTER TABLE calculation_log_parts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON calculation_log_parts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE campaign_pos_groups_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	campaign_id VARCHAR(36) COLLATE "C",
	pos_group_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_campaign_pos_groups_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_campaign_pos_groups_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_campaign_pos_groups_drafts__draft ON campaign_pos_groups_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_campaign_pos_groups_drafts__parent ON campaign_pos_groups_drafts (tenant_id, campaign_id);

ALTER TABLE campaign_pos_groups_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE campaign_pos_groups_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON campaign_pos_groups_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE campaigns (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	code VARCHAR(50) COLLATE "C" NOT NULL,
	name VARCHAR(255) COLLATE "C" NOT NULL,
	description VARCHAR(1000) COLLATE "C",
	start_at TIMESTAMP WITH TIME ZONE,
	end_at TIMESTAMP WITH TIME ZONE,
	status VARCHAR(30) COLLATE "C" NOT NULL,
	notes VARCHAR(2000) COLLATE "C",
	merge_promotion_pos_groups BOOLEAN NOT NULL,
	locked BOOLEAN NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	owner_stakeholder_id VARCHAR(36) COLLATE "C",
	primary_contact_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_campaigns__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_campaigns__owner_stakeholder_id FOREIGN KEY(tenant_id, owner_stakeholder_id) REFERENCES stakeholders (tenant_id, id),
	CONSTRAINT fk_campaigns__primary_contact_id FOREIGN KEY(tenant_id, primary_contact_id) REFERENCES stakeholders (tenant_id, id),
	CONSTRAINT uq_campaigns__code UNIQUE (tenant_id, code)
);

CREATE INDEX ix_campaigns__owner_stakeholder_id ON campaigns (tenant_id, owner_stakeholder_id);

CREATE INDEX ix_campaigns__primary_contact_id ON campaigns (tenant_id, primary_contact_id);

CREATE INDEX ix_campaigns__status_end_at ON campaigns (tenant_id, status, end_at);

ALTER TABLE campaigns ENABLE ROW LEVEL SECURITY;

ALTER TABLE campaigns FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON campaigns
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE campaigns_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	code VARCHAR(50) COLLATE "C",
	name VARCHAR(255) COLLATE "C",
	description VARCHAR(1000) COLLATE "C",
	start_at TIMESTAMP WITH TIME ZONE,
	end_at TIMESTAMP WITH TIME ZONE,
	status VARCHAR(30) COLLATE "C",
	notes VARCHAR(2000) COLLATE "C",
	merge_promotion_pos_groups BOOLEAN,
	locked BOOLEAN,
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	owner_stakeholder_id VARCHAR(36) COLLATE "C",
	primary_contact_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_campaigns_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_campaigns_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_campaigns_drafts__draft ON campaigns_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_campaigns_drafts__owner ON campaigns_drafts (tenant_id, draft_owner);

ALTER TABLE campaigns_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE campaigns_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON campaigns_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE control_pos_groups_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	config_id VARCHAR(36) COLLATE "C",
	pos_group_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_control_pos_groups_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_control_pos_groups_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_control_pos_groups_drafts__draft ON control_pos_groups_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_control_pos_groups_drafts__parent ON control_pos_groups_drafts (tenant_id, config_id);

ALTER TABLE control_pos_groups_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE control_pos_groups_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON control_pos_groups_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE coupon_code_batches (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	name VARCHAR(255) COLLATE "C",
	quantity INTEGER NOT NULL,
	generated_count INTEGER NOT NULL,
	status VARCHAR(30) COLLATE "C" NOT NULL,
	started_at TIMESTAMP WITH TIME ZONE,
	completed_at TIMESTAMP WITH TIME ZONE,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	coupon_type_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_coupon_code_batches__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_coupon_code_batches__quantity_min CHECK (quantity >= 1),
	CONSTRAINT fk_coupon_code_batches__coupon_type_id FOREIGN KEY(tenant_id, coupon_type_id) REFERENCES coupon_types (tenant_id, id)
);

CREATE INDEX ix_coupon_code_batches__coupon_type_id ON coupon_code_batches (tenant_id, coupon_type_id);

CREATE INDEX ix_coupon_code_batches__status_modified_at ON coupon_code_batches (tenant_id, status, modified_at);

ALTER TABLE coupon_code_batches ENABLE ROW LEVEL SECURITY;

ALTER TABLE coupon_code_batches FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON coupon_code_batches
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE coupon_code_configurations (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	prefix VARCHAR(20) COLLATE "C",
	suffix VARCHAR(20) COLLATE "C",
	length INTEGER NOT NULL,
	alphabet VARCHAR(64) COLLATE "C" NOT NULL,
	check_character BOOLEAN NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	coupon_type_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_coupon_code_configurations__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_coupon_code_configurations__length_min CHECK (length >= 1),
	CONSTRAINT ck_coupon_code_configurations__length_max CHECK (length <= 40),
	CONSTRAINT fk_coupon_code_configurations__coupon_type_id FOREIGN KEY(tenant_id, coupon_type_id) REFERENCES coupon_types (tenant_id, id),
	CONSTRAINT uq_coupon_code_configurations__coupon_type_id UNIQUE (tenant_id, coupon_type_id)
);

ALTER TABLE coupon_code_configurations ENABLE ROW LEVEL SECURITY;

ALTER TABLE coupon_code_configurations FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON coupon_code_configurations
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE coupon_codes (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	code VARCHAR(64) COLLATE "C" NOT NULL,
	status VARCHAR(30) COLLATE "C" NOT NULL,
	customer_id VARCHAR(50) COLLATE "C",
	reservation_ref VARCHAR(36) COLLATE "C",
	source VARCHAR(30) COLLATE "C" NOT NULL,
	issued_at TIMESTAMP WITH TIME ZONE,
	issuing_promotion_id VARCHAR(36) COLLATE "C",
	issuing_transaction_id VARCHAR(50) COLLATE "C",
	issuance_channel VARCHAR(30) COLLATE "C",
	valid_from TIMESTAMP WITH TIME ZONE,
	valid_until TIMESTAMP WITH TIME ZONE,
	reserved_until TIMESTAMP WITH TIME ZONE,
	reserved_by_transaction_id VARCHAR(50) COLLATE "C",
	issue_reason VARCHAR(255) COLLATE "C",
	issue_metadata TEXT COLLATE "C",
	redeemed_at TIMESTAMP WITH TIME ZONE,
	redeemed_transaction_id VARCHAR(50) COLLATE "C",
	redemption_count INTEGER NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	coupon_type_id VARCHAR(36) COLLATE "C" NOT NULL,
	batch_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_coupon_codes__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_coupon_codes__redemption_count_min CHECK (redemption_count >= 0),
	CONSTRAINT fk_coupon_codes__coupon_type_id FOREIGN KEY(tenant_id, coupon_type_id) REFERENCES coupon_types (tenant_id, id),
	CONSTRAINT uq_coupon_codes__code UNIQUE (tenant_id, code),
	CONSTRAINT uq_coupon_codes__issuing_transaction_id_issuing_promot_1ed4fe12 UNIQUE (tenant_id, issuing_transaction_id, issuing_promotion_id, coupon_type_id)
);

CREATE INDEX ix_coupon_codes__batch_id_id ON coupon_codes (tenant_id, batch_id, id);

CREATE INDEX ix_coupon_codes__coupon_type_id_status_issued_at ON coupon_codes (tenant_id, coupon_type_id, status, issued_at);

CREATE INDEX ix_coupon_codes__customer_id ON coupon_codes (tenant_id, customer_id NULLS FIRST);

CREATE INDEX ix_coupon_codes__reservation_ref ON coupon_codes (tenant_id, reservation_ref NULLS FIRST);

CREATE INDEX ix_coupon_codes__status_reserved_until ON coupon_codes (tenant_id, status, reserved_until);

CREATE INDEX ix_coupon_codes__status_valid_until ON coupon_codes (tenant_id, status, valid_until);

ALTER TABLE coupon_codes ENABLE ROW LEVEL SECURITY;

ALTER TABLE coupon_codes FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON coupon_codes
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE coupon_refill_schedules (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	minimum_pool_size INTEGER NOT NULL,
	refill_quantity INTEGER NOT NULL,
	interval_minutes INTEGER NOT NULL,
	is_active BOOLEAN NOT NULL,
	last_run_at TIMESTAMP WITH TIME ZONE,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	coupon_type_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_coupon_refill_schedules__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_coupon_refill_schedules__minimum_pool_size_min CHECK (minimum_pool_size >= 0),
	CONSTRAINT ck_coupon_refill_schedules__refill_quantity_min CHECK (refill_quantity >= 1),
	CONSTRAINT ck_coupon_refill_schedules__interval_minutes_min CHECK (interval_minutes >= 1),
	CONSTRAINT fk_coupon_refill_schedules__coupon_type_id FOREIGN KEY(tenant_id, coupon_type_id) REFERENCES coupon_types (tenant_id, id)
);

CREATE INDEX ix_coupon_refill_schedules__coupon_type_id ON coupon_refill_schedules (tenant_id, coupon_type_id);

ALTER TABLE coupon_refill_schedules ENABLE ROW LEVEL SECURITY;

ALTER TABLE coupon_refill_schedules FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON coupon_refill_schedules
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE coupon_types_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	code VARCHAR(50) COLLATE "C",
	name VARCHAR(255) COLLATE "C",
	description VARCHAR(1000) COLLATE "C",
	status VARCHAR(30) COLLATE "C",
	code_type VARCHAR(30) COLLATE "C",
	generic_code VARCHAR(64) COLLATE "C",
	valid_from TIMESTAMP WITH TIME ZONE,
	valid_to TIMESTAMP WITH TIME ZONE,
	validity_days INTEGER,
	max_redemptions INTEGER,
	max_redemptions_per_customer INTEGER,
	reservation_minutes INTEGER,
	requires_activation BOOLEAN,
	on_return VARCHAR(30) COLLATE "C",
	earned_on_return VARCHAR(30) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_coupon_types_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_coupon_types_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_coupon_types_drafts__draft ON coupon_types_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_coupon_types_drafts__owner ON coupon_types_drafts (tenant_id, draft_owner);

ALTER TABLE coupon_types_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE coupon_types_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON coupon_types_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE customer_groups_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	code VARCHAR(50) COLLATE "C",
	name VARCHAR(255) COLLATE "C",
	description VARCHAR(1000) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_customer_groups_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_customer_groups_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_customer_groups_drafts__draft ON customer_groups_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_customer_groups_drafts__owner ON customer_groups_drafts (tenant_id, draft_owner);

ALTER TABLE customer_groups_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE customer_groups_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON customer_groups_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE import_job_errors (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	row_number INTEGER NOT NULL,
	property VARCHAR(255) COLLATE "C",
	code VARCHAR(50) COLLATE "C" NOT NULL,
	message VARCHAR(2000) COLLATE "C" NOT NULL,
	payload TEXT COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	job_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_import_job_errors__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_import_job_errors__job_id FOREIGN KEY(tenant_id, job_id) REFERENCES import_jobs (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_import_job_errors__job_id_row_number ON import_job_errors (tenant_id, job_id, row_number);

ALTER TABLE import_job_errors ENABLE ROW LEVEL SECURITY;

ALTER TABLE import_job_errors FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON import_job_errors
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE local_deployments (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	store_code VARCHAR(50) COLLATE "C" NOT NULL,
	name VARCHAR(255) COLLATE "C",
	program_version VARCHAR(20) COLLATE "C",
	status VARCHAR(30) COLLATE "C" NOT NULL,
	last_heartbeat_at TIMESTAMP WITH TIME ZONE,
	last_sync_at TIMESTAMP WITH TIME ZONE,
	pending_transactions INTEGER NOT NULL,
	cloned_at TIMESTAMP WITH TIME ZONE,
	runs VARCHAR(4000) COLLATE "C",
	epoch INTEGER NOT NULL,
	instance_id VARCHAR(36) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	pos_group_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_local_deployments__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_local_deployments__pos_group_id FOREIGN KEY(tenant_id, pos_group_id) REFERENCES pos_groups (tenant_id, id),
	CONSTRAINT uq_local_deployments__store_code UNIQUE (tenant_id, store_code)
);

CREATE INDEX ix_local_deployments__pos_group_id ON local_deployments (tenant_id, pos_group_id);

ALTER TABLE local_deployments ENABLE ROW LEVEL SECURITY;

ALTER TABLE local_deployments FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON local_deployments
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE loyalty_tiers_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	code VARCHAR(50) COLLATE "C",
	name VARCHAR(255) COLLATE "C",
	description VARCHAR(1000) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_loyalty_tiers_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_loyalty_tiers_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_loyalty_tiers_drafts__draft ON loyalty_tiers_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_loyalty_tiers_drafts__owner ON loyalty_tiers_drafts (tenant_id, draft_owner);

ALTER TABLE loyalty_tiers_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE loyalty_tiers_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON loyalty_tiers_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE mutual_exclusion_groups_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	code VARCHAR(50) COLLATE "C",
	name VARCHAR(255) COLLATE "C",
	description VARCHAR(1000) COLLATE "C",
	resolution_strategy VARCHAR(30) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_mutual_exclusion_groups_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_mutual_exclusion_groups_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_mutual_exclusion_groups_drafts__draft ON mutual_exclusion_groups_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_mutual_exclusion_groups_drafts__owner ON mutual_exclusion_groups_drafts (tenant_id, draft_owner);

ALTER TABLE mutual_exclusion_groups_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE mutual_exclusion_groups_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON mutual_exclusion_groups_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE pilot_pos_groups_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	config_id VARCHAR(36) COLLATE "C",
	pos_group_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_pilot_pos_groups_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_pilot_pos_groups_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_pilot_pos_groups_drafts__draft ON pilot_pos_groups_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_pilot_pos_groups_drafts__parent ON pilot_pos_groups_drafts (tenant_id, config_id);

ALTER TABLE pilot_pos_groups_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE pilot_pos_groups_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON pilot_pos_groups_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE pos_groups_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	code VARCHAR(20) COLLATE "C",
	name VARCHAR(255) COLLATE "C",
	description VARCHAR(1000) COLLATE "C",
	currency VARCHAR(3) COLLATE "C",
	time_zone VARCHAR(64) COLLATE "C",
	country VARCHAR(2) COLLATE "C",
	is_active BOOLEAN,
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	parent_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_pos_groups_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_pos_groups_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_pos_groups_drafts__draft ON pos_groups_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_pos_groups_drafts__owner ON pos_groups_drafts (tenant_id, draft_owner);

ALTER TABLE pos_groups_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE pos_groups_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON pos_groups_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE priority_groups_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	code VARCHAR(50) COLLATE "C",
	name VARCHAR(255) COLLATE "C",
	description VARCHAR(1000) COLLATE "C",
	priority INTEGER,
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_priority_groups_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_priority_groups_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_priority_groups_drafts__draft ON priority_groups_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_priority_groups_drafts__owner ON priority_groups_drafts (tenant_id, draft_owner);

ALTER TABLE priority_groups_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE priority_groups_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON priority_groups_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_forecast_amounts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	baskets_replayed INTEGER NOT NULL,
	baskets_affected INTEGER NOT NULL,
	discount NUMERIC(18, 3) NOT NULL,
	give_away_value NUMERIC(18, 3) NOT NULL,
	discount_without NUMERIC(18, 3) NOT NULL,
	discount_with NUMERIC(18, 3) NOT NULL,
	discount_change NUMERIC(18, 3) NOT NULL,
	net_sales_without NUMERIC(18, 3) NOT NULL,
	net_sales_with NUMERIC(18, 3) NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	forecast_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_forecast_amounts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_promotion_forecast_amounts__forecast_id FOREIGN KEY(tenant_id, forecast_id) REFERENCES promotion_forecasts (tenant_id, id) ON DELETE CASCADE,
	CONSTRAINT uq_promotion_forecast_amounts__forecast_id_currency UNIQUE (tenant_id, forecast_id, currency)
);

ALTER TABLE promotion_forecast_amounts ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_forecast_amounts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_forecast_amounts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_forecast_budgets (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	budget_name VARCHAR(255) COLLATE "C" NOT NULL,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	remaining_before NUMERIC(18, 3) NOT NULL,
	consumption NUMERIC(18, 3) NOT NULL,
	consumption_by_others NUMERIC(18, 3) NOT NULL,
	remaining_after NUMERIC(18, 3) NOT NULL,
	exhausted_on DATE,
	baskets_limited INTEGER NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	forecast_id VARCHAR(36) COLLATE "C" NOT NULL,
	budget_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_forecast_budgets__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_promotion_forecast_budgets__forecast_id FOREIGN KEY(tenant_id, forecast_id) REFERENCES promotion_forecasts (tenant_id, id) ON DELETE CASCADE,
	CONSTRAINT uq_promotion_forecast_budgets__forecast_id_budget_id UNIQUE (tenant_id, forecast_id, budget_id)
);

CREATE INDEX ix_promotion_forecast_budgets__budget_id ON promotion_forecast_budgets (tenant_id, budget_id);

ALTER TABLE promotion_forecast_budgets ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_forecast_budgets FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_forecast_budgets
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_forecast_displacements (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_name VARCHAR(255) COLLATE "C" NOT NULL,
	currency VARCHAR(3) COLLATE "C" NOT NULL,
	applications_lost INTEGER NOT NULL,
	applications_gained INTEGER NOT NULL,
	discount_lost NUMERIC(18, 3) NOT NULL,
	discount_gained NUMERIC(18, 3) NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	forecast_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_forecast_displacements__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_promotion_forecast_displacements__forecast_id FOREIGN KEY(tenant_id, forecast_id) REFERENCES promotion_forecasts (tenant_id, id) ON DELETE CASCADE,
	CONSTRAINT uq_promotion_forecast_displacements__forecast_id_promo_b4040732 UNIQUE (tenant_id, forecast_id, promotion_id, currency)
);

CREATE INDEX ix_promotion_forecast_displacements__forecast_id_currency ON promotion_forecast_displacements (tenant_id, forecast_id, currency);

ALTER TABLE promotion_forecast_displacements ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_forecast_displacements FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_forecast_displacements
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_pilot_configs_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	pilot_start_at TIMESTAMP WITH TIME ZONE,
	pilot_end_at TIMESTAMP WITH TIME ZONE,
	auto_promote BOOLEAN,
	auto_promote_threshold NUMERIC(5, 2),
	pilot_share NUMERIC(3, 2),
	control_group_size INTEGER,
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	promotion_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_promotion_pilot_configs_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_promotion_pilot_configs_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_promotion_pilot_configs_drafts__draft ON promotion_pilot_configs_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_promotion_pilot_configs_drafts__owner ON promotion_pilot_configs_drafts (tenant_id, draft_owner);

ALTER TABLE promotion_pilot_configs_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_pilot_configs_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_pilot_configs_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_pos_groups_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	promotion_id VARCHAR(36) COLLATE "C",
	pos_group_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_promotion_pos_groups_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_promotion_pos_groups_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_promotion_pos_groups_drafts__draft ON promotion_pos_groups_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_promotion_pos_groups_drafts__parent ON promotion_pos_groups_drafts (tenant_id, promotion_id);

ALTER TABLE promotion_pos_groups_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_pos_groups_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_pos_groups_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_templates (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	code VARCHAR(50) COLLATE "C",
	name VARCHAR(255) COLLATE "C" NOT NULL,
	description VARCHAR(1000) COLLATE "C",
	use_case VARCHAR(30) COLLATE "C",
	type VARCHAR(30) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	priority_group_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_templates__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_promotion_templates__priority_group_id FOREIGN KEY(tenant_id, priority_group_id) REFERENCES priority_groups (tenant_id, id),
	CONSTRAINT uq_promotion_templates__code UNIQUE (tenant_id, code)
);

CREATE INDEX ix_promotion_templates__priority_group_id ON promotion_templates (tenant_id, priority_group_id);

ALTER TABLE promotion_templates ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_templates FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_templates
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_templates_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	code VARCHAR(50) COLLATE "C",
	name VARCHAR(255) COLLATE "C",
	description VARCHAR(1000) COLLATE "C",
	use_case VARCHAR(30) COLLATE "C",
	type VARCHAR(30) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	priority_group_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_promotion_templates_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_promotion_templates_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_promotion_templates_drafts__draft ON promotion_templates_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_promotion_templates_drafts__owner ON promotion_templates_drafts (tenant_id, draft_owner);

ALTER TABLE promotion_templates_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_templates_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_templates_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotions_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	code VARCHAR(50) COLLATE "C",
	name VARCHAR(255) COLLATE "C",
	description VARCHAR(1000) COLLATE "C",
	type VARCHAR(30) COLLATE "C",
	status VARCHAR(30) COLLATE "C",
	valid_from TIMESTAMP WITH TIME ZONE,
	valid_to TIMESTAMP WITH TIME ZONE,
	priority INTEGER,
	exclusivity_level VARCHAR(30) COLLATE "C",
	currency VARCHAR(3) COLLATE "C",
	max_applications_per_transaction INTEGER,
	max_applications_per_customer INTEGER,
	max_applications_total INTEGER,
	counts_towards_threshold BOOLEAN,
	excluded_counts_towards_threshold BOOLEAN,
	applications_count INTEGER,
	return_policy VARCHAR(30) COLLATE "C",
	is_experiment BOOLEAN,
	control_group_id VARCHAR(36) COLLATE "C",
	experiment_group_id VARCHAR(36) COLLATE "C",
	external_reference VARCHAR(100) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	mutual_exclusion_group_id VARCHAR(36) COLLATE "C",
	campaign_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_promotions_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_promotions_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_promotions_drafts__draft ON promotions_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_promotions_drafts__owner ON promotions_drafts (tenant_id, draft_owner);

ALTER TABLE promotions_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotions_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotions_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE recharge_contributions (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	amount NUMERIC(16, 3) NOT NULL,
	currency VARCHAR(3) COLLATE "C",
	contributed_at TIMESTAMP WITH TIME ZONE,
	reference VARCHAR(100) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	budget_id VARCHAR(36) COLLATE "C" NOT NULL,
	stakeholder_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_recharge_contributions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_recharge_contributions__amount_min CHECK (amount >= 0),
	CONSTRAINT fk_recharge_contributions__budget_id FOREIGN KEY(tenant_id, budget_id) REFERENCES budgets (tenant_id, id),
	CONSTRAINT fk_recharge_contributions__stakeholder_id FOREIGN KEY(tenant_id, stakeholder_id) REFERENCES stakeholders (tenant_id, id)
);

CREATE INDEX ix_recharge_contributions__budget_id_contributed_at ON recharge_contributions (tenant_id, budget_id, contributed_at);

CREATE INDEX ix_recharge_contributions__stakeholder_id ON recharge_contributions (tenant_id, stakeholder_id);

ALTER TABLE recharge_contributions ENABLE ROW LEVEL SECURITY;

ALTER TABLE recharge_contributions FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON recharge_contributions
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE stakeholders_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	code VARCHAR(50) COLLATE "C",
	name VARCHAR(255) COLLATE "C",
	type VARCHAR(30) COLLATE "C",
	contact_name VARCHAR(255) COLLATE "C",
	email VARCHAR(255) COLLATE "C",
	phone VARCHAR(50) COLLATE "C",
	is_active BOOLEAN,
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_stakeholders_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_stakeholders_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_stakeholders_drafts__draft ON stakeholders_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_stakeholders_drafts__owner ON stakeholders_drafts (tenant_id, draft_owner);

ALTER TABLE stakeholders_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE stakeholders_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON stakeholders_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE template_condition_article_list_items_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	article_number VARCHAR(50) COLLATE "C",
	ean VARCHAR(18) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	condition_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_template_condition_article_list_items_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_condition_article_list_items_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_template_condition_article_list_items_drafts__draft ON template_condition_article_list_items_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_template_condition_article_list_items_drafts__parent ON template_condition_article_list_items_drafts (tenant_id, condition_id);

ALTER TABLE template_condition_article_list_items_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE template_condition_article_list_items_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON template_condition_article_list_items_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE template_condition_value_list_items_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	value VARCHAR(255) COLLATE "C",
	value_category VARCHAR(30) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	condition_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_template_condition_value_list_items_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_condition_value_list_items_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_template_condition_value_list_items_drafts__draft ON template_condition_value_list_items_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_template_condition_value_list_items_drafts__parent ON template_condition_value_list_items_drafts (tenant_id, condition_id);

ALTER TABLE template_condition_value_list_items_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE template_condition_value_list_items_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON template_condition_value_list_items_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE template_conditions_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	sequence INTEGER,
	logical_connector VARCHAR(30) COLLATE "C",
	condition_type VARCHAR(30) COLLATE "C",
	operator VARCHAR(30) COLLATE "C",
	value_category VARCHAR(30) COLLATE "C",
	value VARCHAR(255) COLLATE "C",
	value_to VARCHAR(255) COLLATE "C",
	article_number VARCHAR(50) COLLATE "C",
	article_group_key VARCHAR(20) COLLATE "C",
	include_sub_groups BOOLEAN,
	manufacturer VARCHAR(255) COLLATE "C",
	field_name VARCHAR(100) COLLATE "C",
	min_quantity NUMERIC(15, 3),
	min_amount NUMERIC(15, 2),
	time_from TIME WITHOUT TIME ZONE,
	time_to TIME WITHOUT TIME ZONE,
	weekdays VARCHAR(27) COLLATE "C",
	date_from DATE,
	date_to DATE,
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	article_id VARCHAR(36) COLLATE "C",
	article_group_id VARCHAR(36) COLLATE "C",
	template_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_template_conditions_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_conditions_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_template_conditions_drafts__draft ON template_conditions_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_template_conditions_drafts__parent ON template_conditions_drafts (tenant_id, template_id);

ALTER TABLE template_conditions_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE template_conditions_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON template_conditions_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE template_discount_action_article_list_items_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	article_number VARCHAR(50) COLLATE "C",
	ean VARCHAR(18) COLLATE "C",
	fixed_price NUMERIC(15, 2),
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	action_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_template_discount_action_article_list_items_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_discount_action_article_list_items_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_action_article_list_items_drafts__draft ON template_discount_action_article_list_items_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_template_discount_action_article_list_items_drafts__parent ON template_discount_action_article_list_items_drafts (tenant_id, action_id);

ALTER TABLE template_discount_action_article_list_items_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE template_discount_action_article_list_items_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON template_discount_action_article_list_items_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE template_discount_action_bundle_components_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	sequence INTEGER,
	article_number VARCHAR(50) COLLATE "C",
	article_group_key VARCHAR(20) COLLATE "C",
	include_sub_groups BOOLEAN,
	quantity NUMERIC(15, 3),
	discounted BOOLEAN,
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	article_id VARCHAR(36) COLLATE "C",
	article_group_id VARCHAR(36) COLLATE "C",
	action_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_template_discount_action_bundle_components_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_discount_action_bundle_components_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_action_bundle_components_drafts__draft ON template_discount_action_bundle_components_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_template_discount_action_bundle_components_drafts__parent ON template_discount_action_bundle_components_drafts (tenant_id, action_id);

ALTER TABLE template_discount_action_bundle_components_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE template_discount_action_bundle_components_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON template_discount_action_bundle_components_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE template_discount_action_exclusion_article_list_items_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	article_number VARCHAR(50) COLLATE "C",
	ean VARCHAR(18) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	exclusion_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_ate_discount_action_exclusion_article_list_items_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_e_discount_action_exclusion_article_list_items_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix__discount_action_exclusion_article_list_items_drafts__parent ON template_discount_action_exclusion_article_list_items_drafts (tenant_id, exclusion_id);

CREATE INDEX ix_e_discount_action_exclusion_article_list_items_drafts__draft ON template_discount_action_exclusion_article_list_items_drafts (tenant_id, draft_uuid);

ALTER TABLE template_discount_action_exclusion_article_list_items_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE template_discount_action_exclusion_article_list_items_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON template_discount_action_exclusion_article_list_items_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE template_discount_action_exclusions_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	exclusion_type VARCHAR(30) COLLATE "C",
	article_number VARCHAR(50) COLLATE "C",
	article_group_key VARCHAR(20) COLLATE "C",
	manufacturer VARCHAR(255) COLLATE "C",
	field_name VARCHAR(100) COLLATE "C",
	value VARCHAR(255) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	article_group_id VARCHAR(36) COLLATE "C",
	action_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_template_discount_action_exclusions_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_discount_action_exclusions_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_action_exclusions_drafts__draft ON template_discount_action_exclusions_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_template_discount_action_exclusions_drafts__parent ON template_discount_action_exclusions_drafts (tenant_id, action_id);

ALTER TABLE template_discount_action_exclusions_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE template_discount_action_exclusions_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON template_discount_action_exclusions_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE template_discount_action_quantity_tiers_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	sequence INTEGER,
	discount_type VARCHAR(30) COLLATE "C",
	discount_value NUMERIC(15, 2),
	min_quantity NUMERIC(15, 3),
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	action_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_template_discount_action_quantity_tiers_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_discount_action_quantity_tiers_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_action_quantity_tiers_drafts__draft ON template_discount_action_quantity_tiers_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_template_discount_action_quantity_tiers_drafts__parent ON template_discount_action_quantity_tiers_drafts (tenant_id, action_id);

ALTER TABLE template_discount_action_quantity_tiers_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE template_discount_action_quantity_tiers_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON template_discount_action_quantity_tiers_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE template_discount_action_scaled_tiers_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	sequence INTEGER,
	discount_type VARCHAR(30) COLLATE "C",
	discount_value NUMERIC(15, 2),
	threshold_amount NUMERIC(15, 2),
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	action_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_template_discount_action_scaled_tiers_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_discount_action_scaled_tiers_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_action_scaled_tiers_drafts__draft ON template_discount_action_scaled_tiers_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_template_discount_action_scaled_tiers_drafts__parent ON template_discount_action_scaled_tiers_drafts (tenant_id, action_id);

ALTER TABLE template_discount_action_scaled_tiers_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE template_discount_action_scaled_tiers_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON template_discount_action_scaled_tiers_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE template_discount_actions_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	sequence INTEGER,
	action_type VARCHAR(30) COLLATE "C",
	discount_type VARCHAR(30) COLLATE "C",
	discount_value NUMERIC(15, 2),
	max_discount_amount NUMERIC(15, 2),
	target_article_number VARCHAR(50) COLLATE "C",
	target_article_group_key VARCHAR(20) COLLATE "C",
	include_sub_groups BOOLEAN,
	target_article_list BOOLEAN,
	selection_type VARCHAR(30) COLLATE "C",
	application_quantity_mode VARCHAR(30) COLLATE "C",
	application_quantity NUMERIC(15, 3),
	distribution_mode VARCHAR(30) COLLATE "C",
	max_bundles INTEGER,
	free_item_article_number VARCHAR(50) COLLATE "C",
	free_item_quantity NUMERIC(15, 3),
	restrict_to_one_per_basket BOOLEAN,
	free_item_reference_price NUMERIC(15, 2),
	max_free_units NUMERIC(15, 3),
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	target_article_id VARCHAR(36) COLLATE "C",
	target_article_group_id VARCHAR(36) COLLATE "C",
	target_coupon_type_id VARCHAR(36) COLLATE "C",
	template_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_template_discount_actions_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_discount_actions_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_actions_drafts__draft ON template_discount_actions_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_template_discount_actions_drafts__parent ON template_discount_actions_drafts (tenant_id, template_id);

ALTER TABLE template_discount_actions_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE template_discount_actions_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON template_discount_actions_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE template_loyalty_actions_drafts (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	action_type VARCHAR(30) COLLATE "C",
	points NUMERIC(15, 2),
	multiplier NUMERIC(7, 3),
	currency_amount NUMERIC(15, 2),
	target_scope VARCHAR(30) COLLATE "C",
	target_article_number VARCHAR(50) COLLATE "C",
	target_article_group_key VARCHAR(20) COLLATE "C",
	include_sub_groups BOOLEAN,
	max_points NUMERIC(15, 2),
	created_at TIMESTAMP WITH TIME ZONE,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE,
	modified_by VARCHAR(255) COLLATE "C",
	template_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	draft_uuid VARCHAR(36) COLLATE "C" NOT NULL,
	draft_owner VARCHAR(255) COLLATE "C" NOT NULL,
	changed TEXT,
	removed BOOLEAN DEFAULT false NOT NULL,
	CONSTRAINT pk_template_loyalty_actions_drafts__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_loyalty_actions_drafts__draft FOREIGN KEY(tenant_id, draft_uuid) REFERENCES drafts (tenant_id, draft_uuid) ON DELETE CASCADE
);

CREATE INDEX ix_template_loyalty_actions_drafts__draft ON template_loyalty_actions_drafts (tenant_id, draft_uuid);

CREATE INDEX ix_template_loyalty_actions_drafts__parent ON template_loyalty_actions_drafts (tenant_id, template_id);

ALTER TABLE template_loyalty_actions_drafts ENABLE ROW LEVEL SECURITY;

ALTER TABLE template_loyalty_actions_drafts FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON template_loyalty_actions_drafts
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE campaign_pos_groups (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	campaign_id VARCHAR(36) COLLATE "C" NOT NULL,
	pos_group_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_campaign_pos_groups__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_campaign_pos_groups__campaign_id FOREIGN KEY(tenant_id, campaign_id) REFERENCES campaigns (tenant_id, id) ON DELETE CASCADE,
	CONSTRAINT fk_campaign_pos_groups__pos_group_id FOREIGN KEY(tenant_id, pos_group_id) REFERENCES pos_groups (tenant_id, id),
	CONSTRAINT uq_campaign_pos_groups__campaign_id_pos_group_id UNIQUE (tenant_id, campaign_id, pos_group_id)
);

CREATE INDEX ix_campaign_pos_groups__pos_group_id ON campaign_pos_groups (tenant_id, pos_group_id);

ALTER TABLE campaign_pos_groups ENABLE ROW LEVEL SECURITY;

ALTER TABLE campaign_pos_groups FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON campaign_pos_groups
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotions (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	code VARCHAR(50) COLLATE "C",
	name VARCHAR(255) COLLATE "C" NOT NULL,
	description VARCHAR(1000) COLLATE "C",
	type VARCHAR(30) COLLATE "C" NOT NULL,
	status VARCHAR(30) COLLATE "C" NOT NULL,
	valid_from TIMESTAMP WITH TIME ZONE,
	valid_to TIMESTAMP WITH TIME ZONE,
	priority INTEGER NOT NULL,
	exclusivity_level VARCHAR(30) COLLATE "C" NOT NULL,
	currency VARCHAR(3) COLLATE "C",
	max_applications_per_transaction INTEGER,
	max_applications_per_customer INTEGER,
	max_applications_total INTEGER,
	counts_towards_threshold BOOLEAN,
	excluded_counts_towards_threshold BOOLEAN,
	applications_count INTEGER NOT NULL,
	return_policy VARCHAR(30) COLLATE "C" NOT NULL,
	is_experiment BOOLEAN NOT NULL,
	control_group_id VARCHAR(36) COLLATE "C",
	experiment_group_id VARCHAR(36) COLLATE "C",
	external_reference VARCHAR(100) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	mutual_exclusion_group_id VARCHAR(36) COLLATE "C",
	campaign_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_promotions__max_applications_per_transaction_min CHECK (max_applications_per_transaction >= 0),
	CONSTRAINT ck_promotions__max_applications_per_customer_min CHECK (max_applications_per_customer >= 0),
	CONSTRAINT ck_promotions__max_applications_total_min CHECK (max_applications_total >= 0),
	CONSTRAINT fk_promotions__mutual_exclusion_group_id FOREIGN KEY(tenant_id, mutual_exclusion_group_id) REFERENCES mutual_exclusion_groups (tenant_id, id),
	CONSTRAINT fk_promotions__campaign_id FOREIGN KEY(tenant_id, campaign_id) REFERENCES campaigns (tenant_id, id),
	CONSTRAINT uq_promotions__code UNIQUE (tenant_id, code)
);

CREATE INDEX ix_promotions__campaign_id ON promotions (tenant_id, campaign_id);

CREATE INDEX ix_promotions__modified_at ON promotions (tenant_id, modified_at);

CREATE INDEX ix_promotions__mutual_exclusion_group_id ON promotions (tenant_id, mutual_exclusion_group_id);

CREATE INDEX ix_promotions__status_valid_to ON promotions (tenant_id, status, valid_to);

ALTER TABLE promotions ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotions FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotions
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE sync_history (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	direction VARCHAR(30) COLLATE "C" NOT NULL,
	started_at TIMESTAMP WITH TIME ZONE NOT NULL,
	completed_at TIMESTAMP WITH TIME ZONE,
	promotions INTEGER NOT NULL,
	transactions INTEGER NOT NULL,
	status VARCHAR(30) COLLATE "C" NOT NULL,
	message VARCHAR(1000) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	deployment_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_sync_history__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_sync_history__deployment_id FOREIGN KEY(tenant_id, deployment_id) REFERENCES local_deployments (tenant_id, id)
);

CREATE INDEX ix_sync_history__deployment_id_started_at ON sync_history (tenant_id, deployment_id, started_at);

ALTER TABLE sync_history ENABLE ROW LEVEL SECURITY;

ALTER TABLE sync_history FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON sync_history
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE template_conditions (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	sequence INTEGER NOT NULL,
	logical_connector VARCHAR(30) COLLATE "C" NOT NULL,
	condition_type VARCHAR(30) COLLATE "C" NOT NULL,
	operator VARCHAR(30) COLLATE "C",
	value_category VARCHAR(30) COLLATE "C",
	value VARCHAR(255) COLLATE "C",
	value_to VARCHAR(255) COLLATE "C",
	article_number VARCHAR(50) COLLATE "C",
	article_group_key VARCHAR(20) COLLATE "C",
	include_sub_groups BOOLEAN NOT NULL,
	manufacturer VARCHAR(255) COLLATE "C",
	field_name VARCHAR(100) COLLATE "C",
	min_quantity NUMERIC(15, 3),
	min_amount NUMERIC(15, 2),
	time_from TIME WITHOUT TIME ZONE,
	time_to TIME WITHOUT TIME ZONE,
	weekdays VARCHAR(27) COLLATE "C",
	date_from DATE,
	date_to DATE,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	article_id VARCHAR(36) COLLATE "C",
	article_group_id VARCHAR(36) COLLATE "C",
	template_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_template_conditions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_template_conditions__min_quantity_min CHECK (min_quantity >= 0),
	CONSTRAINT ck_template_conditions__min_amount_min CHECK (min_amount >= 0),
	CONSTRAINT fk_template_conditions__article_id FOREIGN KEY(tenant_id, article_id) REFERENCES articles (tenant_id, id),
	CONSTRAINT fk_template_conditions__article_group_id FOREIGN KEY(tenant_id, article_group_id) REFERENCES article_groups (tenant_id, id),
	CONSTRAINT fk_template_conditions__template_id FOREIGN KEY(tenant_id, template_id) REFERENCES promotion_templates (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_template_conditions__article_group_id ON template_conditions (tenant_id, article_group_id);

CREATE INDEX ix_template_conditions__article_id ON template_conditions (tenant_id, article_id);

CREATE INDEX ix_template_conditions__template_id ON template_conditions (tenant_id, template_id);

ALTER TABLE template_conditions ENABLE ROW LEVEL SECURITY;

ALTER TABLE template_conditions FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON template_conditions
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE template_discount_actions (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	sequence INTEGER NOT NULL,
	action_type VARCHAR(30) COLLATE "C" NOT NULL,
	discount_type VARCHAR(30) COLLATE "C",
	discount_value NUMERIC(15, 2),
	max_discount_amount NUMERIC(15, 2),
	target_article_number VARCHAR(50) COLLATE "C",
	target_article_group_key VARCHAR(20) COLLATE "C",
	include_sub_groups BOOLEAN NOT NULL,
	target_article_list BOOLEAN NOT NULL,
	selection_type VARCHAR(30) COLLATE "C",
	application_quantity_mode VARCHAR(30) COLLATE "C",
	application_quantity NUMERIC(15, 3),
	distribution_mode VARCHAR(30) COLLATE "C",
	max_bundles INTEGER,
	free_item_article_number VARCHAR(50) COLLATE "C",
	free_item_quantity NUMERIC(15, 3),
	restrict_to_one_per_basket BOOLEAN NOT NULL,
	free_item_reference_price NUMERIC(15, 2),
	max_free_units NUMERIC(15, 3),
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	target_article_id VARCHAR(36) COLLATE "C",
	target_article_group_id VARCHAR(36) COLLATE "C",
	target_coupon_type_id VARCHAR(36) COLLATE "C",
	template_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_template_discount_actions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_template_discount_actions__discount_value_min CHECK (discount_value >= 0),
	CONSTRAINT ck_template_discount_actions__max_discount_amount_min CHECK (max_discount_amount >= 0),
	CONSTRAINT ck_template_discount_actions__application_quantity_min CHECK (application_quantity >= 0),
	CONSTRAINT ck_template_discount_actions__max_bundles_min CHECK (max_bundles >= 0),
	CONSTRAINT ck_template_discount_actions__free_item_quantity_min CHECK (free_item_quantity >= 0),
	CONSTRAINT ck_template_discount_actions__free_item_reference_price_min CHECK (free_item_reference_price >= 0),
	CONSTRAINT ck_template_discount_actions__max_free_units_min CHECK (max_free_units >= 0),
	CONSTRAINT fk_template_discount_actions__target_article_id FOREIGN KEY(tenant_id, target_article_id) REFERENCES articles (tenant_id, id),
	CONSTRAINT fk_template_discount_actions__target_article_group_id FOREIGN KEY(tenant_id, target_article_group_id) REFERENCES article_groups (tenant_id, id),
	CONSTRAINT fk_template_discount_actions__target_coupon_type_id FOREIGN KEY(tenant_id, target_coupon_type_id) REFERENCES coupon_types (tenant_id, id),
	CONSTRAINT fk_template_discount_actions__template_id FOREIGN KEY(tenant_id, template_id) REFERENCES promotion_templates (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_actions__target_article_group_id ON template_discount_actions (tenant_id, target_article_group_id);

CREATE INDEX ix_template_discount_actions__target_article_id ON template_discount_actions (tenant_id, target_article_id);

CREATE INDEX ix_template_discount_actions__target_coupon_type_id ON template_discount_actions (tenant_id, target_coupon_type_id);

CREATE INDEX ix_template_discount_actions__template_id ON template_discount_actions (tenant_id, template_id);

ALTER TABLE template_discount_actions ENABLE ROW LEVEL SECURITY;

ALTER TABLE template_discount_actions FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON template_discount_actions
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE template_loyalty_actions (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	action_type VARCHAR(30) COLLATE "C" NOT NULL,
	points NUMERIC(15, 2),
	multiplier NUMERIC(7, 3),
	currency_amount NUMERIC(15, 2),
	target_scope VARCHAR(30) COLLATE "C" NOT NULL,
	target_article_number VARCHAR(50) COLLATE "C",
	target_article_group_key VARCHAR(20) COLLATE "C",
	include_sub_groups BOOLEAN NOT NULL,
	max_points NUMERIC(15, 2),
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	template_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_template_loyalty_actions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_template_loyalty_actions__points_min CHECK (points >= 0),
	CONSTRAINT ck_template_loyalty_actions__multiplier_min CHECK (multiplier >= 0),
	CONSTRAINT ck_template_loyalty_actions__currency_amount_min CHECK (currency_amount >= 0),
	CONSTRAINT ck_template_loyalty_actions__max_points_min CHECK (max_points >= 0),
	CONSTRAINT fk_template_loyalty_actions__template_id FOREIGN KEY(tenant_id, template_id) REFERENCES promotion_templates (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_template_loyalty_actions__template_id ON template_loyalty_actions (tenant_id, template_id);

ALTER TABLE template_loyalty_actions ENABLE ROW LEVEL SECURITY;

ALTER TABLE template_loyalty_actions FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON template_loyalty_actions
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE basket_tests (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	name VARCHAR(255) COLLATE "C" NOT NULL,
	description VARCHAR(1000) COLLATE "C",
	status VARCHAR(30) COLLATE "C" NOT NULL,
	request VARCHAR(65536) COLLATE "C" NOT NULL,
	priced_at TIMESTAMP WITH TIME ZONE,
	expected_total NUMERIC(18, 3) NOT NULL,
	currency VARCHAR(3) COLLATE "C",
	expected_promotions TEXT,
	last_run_at TIMESTAMP WITH TIME ZONE,
	actual_total NUMERIC(18, 3),
	actual_promotions TEXT,
	difference VARCHAR(1000) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	promotion_id VARCHAR(36) COLLATE "C",
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_basket_tests__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_basket_tests__promotion_id FOREIGN KEY(tenant_id, promotion_id) REFERENCES promotions (tenant_id, id)
);

CREATE INDEX ix_basket_tests__promotion_id ON basket_tests (tenant_id, promotion_id);

ALTER TABLE basket_tests ENABLE ROW LEVEL SECURITY;

ALTER TABLE basket_tests FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON basket_tests
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE budget_promotions (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	budget_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_budget_promotions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_budget_promotions__budget_id FOREIGN KEY(tenant_id, budget_id) REFERENCES budgets (tenant_id, id),
	CONSTRAINT fk_budget_promotions__promotion_id FOREIGN KEY(tenant_id, promotion_id) REFERENCES promotions (tenant_id, id),
	CONSTRAINT uq_budget_promotions__promotion_id_budget_id UNIQUE (tenant_id, promotion_id, budget_id)
);

CREATE INDEX ix_budget_promotions__budget_id ON budget_promotions (tenant_id, budget_id);

ALTER TABLE budget_promotions ENABLE ROW LEVEL SECURITY;

ALTER TABLE budget_promotions FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON budget_promotions
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE calculation_configs (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	mode VARCHAR(30) COLLATE "C" NOT NULL,
	rounding VARCHAR(30) COLLATE "C" NOT NULL,
	precision INTEGER,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_calculation_configs__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_calculation_configs__precision_min CHECK (precision >= 0),
	CONSTRAINT ck_calculation_configs__precision_max CHECK (precision <= 3),
	CONSTRAINT fk_calculation_configs__promotion_id FOREIGN KEY(tenant_id, promotion_id) REFERENCES promotions (tenant_id, id) ON DELETE CASCADE,
	CONSTRAINT uq_calculation_configs__promotion_id UNIQUE (tenant_id, promotion_id)
);

ALTER TABLE calculation_configs ENABLE ROW LEVEL SECURITY;

ALTER TABLE calculation_configs FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON calculation_configs
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE conditions (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	sequence INTEGER NOT NULL,
	logical_connector VARCHAR(30) COLLATE "C" NOT NULL,
	condition_type VARCHAR(30) COLLATE "C" NOT NULL,
	operator VARCHAR(30) COLLATE "C",
	value_category VARCHAR(30) COLLATE "C",
	value VARCHAR(255) COLLATE "C",
	value_to VARCHAR(255) COLLATE "C",
	article_number VARCHAR(50) COLLATE "C",
	article_group_key VARCHAR(20) COLLATE "C",
	include_sub_groups BOOLEAN NOT NULL,
	manufacturer VARCHAR(255) COLLATE "C",
	field_name VARCHAR(100) COLLATE "C",
	min_quantity NUMERIC(15, 3),
	min_amount NUMERIC(15, 2),
	time_from TIME WITHOUT TIME ZONE,
	time_to TIME WITHOUT TIME ZONE,
	weekdays VARCHAR(27) COLLATE "C",
	date_from DATE,
	date_to DATE,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	article_id VARCHAR(36) COLLATE "C",
	article_group_id VARCHAR(36) COLLATE "C",
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_conditions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_conditions__min_quantity_min CHECK (min_quantity >= 0),
	CONSTRAINT ck_conditions__min_amount_min CHECK (min_amount >= 0),
	CONSTRAINT fk_conditions__article_id FOREIGN KEY(tenant_id, article_id) REFERENCES articles (tenant_id, id),
	CONSTRAINT fk_conditions__article_group_id FOREIGN KEY(tenant_id, article_group_id) REFERENCES article_groups (tenant_id, id),
	CONSTRAINT fk_conditions__promotion_id FOREIGN KEY(tenant_id, promotion_id) REFERENCES promotions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_conditions__article_group_id ON conditions (tenant_id, article_group_id);

CREATE INDEX ix_conditions__article_id ON conditions (tenant_id, article_id);

CREATE INDEX ix_conditions__promotion_id ON conditions (tenant_id, promotion_id);

ALTER TABLE conditions ENABLE ROW LEVEL SECURITY;

ALTER TABLE conditions FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON conditions
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE coupon_type_promotions (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	coupon_type_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_coupon_type_promotions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_coupon_type_promotions__coupon_type_id FOREIGN KEY(tenant_id, coupon_type_id) REFERENCES coupon_types (tenant_id, id),
	CONSTRAINT fk_coupon_type_promotions__promotion_id FOREIGN KEY(tenant_id, promotion_id) REFERENCES promotions (tenant_id, id),
	CONSTRAINT uq_coupon_type_promotions__promotion_id_coupon_type_id UNIQUE (tenant_id, promotion_id, coupon_type_id)
);

CREATE INDEX ix_coupon_type_promotions__coupon_type_id ON coupon_type_promotions (tenant_id, coupon_type_id);

ALTER TABLE coupon_type_promotions ENABLE ROW LEVEL SECURITY;

ALTER TABLE coupon_type_promotions FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON coupon_type_promotions
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE discount_actions (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	sequence INTEGER NOT NULL,
	action_type VARCHAR(30) COLLATE "C" NOT NULL,
	discount_type VARCHAR(30) COLLATE "C",
	discount_value NUMERIC(15, 2),
	max_discount_amount NUMERIC(15, 2),
	target_article_number VARCHAR(50) COLLATE "C",
	target_article_group_key VARCHAR(20) COLLATE "C",
	include_sub_groups BOOLEAN NOT NULL,
	target_article_list BOOLEAN NOT NULL,
	selection_type VARCHAR(30) COLLATE "C",
	application_quantity_mode VARCHAR(30) COLLATE "C",
	application_quantity NUMERIC(15, 3),
	distribution_mode VARCHAR(30) COLLATE "C",
	max_bundles INTEGER,
	free_item_article_number VARCHAR(50) COLLATE "C",
	free_item_quantity NUMERIC(15, 3),
	restrict_to_one_per_basket BOOLEAN NOT NULL,
	free_item_reference_price NUMERIC(15, 2),
	max_free_units NUMERIC(15, 3),
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	target_article_id VARCHAR(36) COLLATE "C",
	target_article_group_id VARCHAR(36) COLLATE "C",
	target_coupon_type_id VARCHAR(36) COLLATE "C",
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_discount_actions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_discount_actions__discount_value_min CHECK (discount_value >= 0),
	CONSTRAINT ck_discount_actions__max_discount_amount_min CHECK (max_discount_amount >= 0),
	CONSTRAINT ck_discount_actions__application_quantity_min CHECK (application_quantity >= 0),
	CONSTRAINT ck_discount_actions__max_bundles_min CHECK (max_bundles >= 0),
	CONSTRAINT ck_discount_actions__free_item_quantity_min CHECK (free_item_quantity >= 0),
	CONSTRAINT ck_discount_actions__free_item_reference_price_min CHECK (free_item_reference_price >= 0),
	CONSTRAINT ck_discount_actions__max_free_units_min CHECK (max_free_units >= 0),
	CONSTRAINT fk_discount_actions__target_article_id FOREIGN KEY(tenant_id, target_article_id) REFERENCES articles (tenant_id, id),
	CONSTRAINT fk_discount_actions__target_article_group_id FOREIGN KEY(tenant_id, target_article_group_id) REFERENCES article_groups (tenant_id, id),
	CONSTRAINT fk_discount_actions__target_coupon_type_id FOREIGN KEY(tenant_id, target_coupon_type_id) REFERENCES coupon_types (tenant_id, id),
	CONSTRAINT fk_discount_actions__promotion_id FOREIGN KEY(tenant_id, promotion_id) REFERENCES promotions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_discount_actions__promotion_id ON discount_actions (tenant_id, promotion_id);

CREATE INDEX ix_discount_actions__target_article_group_id ON discount_actions (tenant_id, target_article_group_id);

CREATE INDEX ix_discount_actions__target_article_id ON discount_actions (tenant_id, target_article_id);

CREATE INDEX ix_discount_actions__target_coupon_type_id ON discount_actions (tenant_id, target_coupon_type_id);

ALTER TABLE discount_actions ENABLE ROW LEVEL SECURITY;

ALTER TABLE discount_actions FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON discount_actions
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE loyalty_actions (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	action_type VARCHAR(30) COLLATE "C" NOT NULL,
	points NUMERIC(15, 2),
	multiplier NUMERIC(7, 3),
	currency_amount NUMERIC(15, 2),
	target_scope VARCHAR(30) COLLATE "C" NOT NULL,
	target_article_number VARCHAR(50) COLLATE "C",
	target_article_group_key VARCHAR(20) COLLATE "C",
	include_sub_groups BOOLEAN NOT NULL,
	max_points NUMERIC(15, 2),
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_loyalty_actions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_loyalty_actions__points_min CHECK (points >= 0),
	CONSTRAINT ck_loyalty_actions__multiplier_min CHECK (multiplier >= 0),
	CONSTRAINT ck_loyalty_actions__currency_amount_min CHECK (currency_amount >= 0),
	CONSTRAINT ck_loyalty_actions__max_points_min CHECK (max_points >= 0),
	CONSTRAINT fk_loyalty_actions__promotion_id FOREIGN KEY(tenant_id, promotion_id) REFERENCES promotions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_loyalty_actions__promotion_id ON loyalty_actions (tenant_id, promotion_id);

ALTER TABLE loyalty_actions ENABLE ROW LEVEL SECURITY;

ALTER TABLE loyalty_actions FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON loyalty_actions
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE priority_group_promotions (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	sequence INTEGER NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	priority_group_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_priority_group_promotions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_priority_group_promotions__priority_group_id FOREIGN KEY(tenant_id, priority_group_id) REFERENCES priority_groups (tenant_id, id),
	CONSTRAINT fk_priority_group_promotions__promotion_id FOREIGN KEY(tenant_id, promotion_id) REFERENCES promotions (tenant_id, id),
	CONSTRAINT uq_priority_group_promotions__promotion_id UNIQUE (tenant_id, promotion_id)
);

CREATE INDEX ix_priority_group_promotions__priority_group_id ON priority_group_promotions (tenant_id, priority_group_id);

ALTER TABLE priority_group_promotions ENABLE ROW LEVEL SECURITY;

ALTER TABLE priority_group_promotions FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON priority_group_promotions
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_pilot_configs (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	pilot_start_at TIMESTAMP WITH TIME ZONE NOT NULL,
	pilot_end_at TIMESTAMP WITH TIME ZONE NOT NULL,
	auto_promote BOOLEAN NOT NULL,
	auto_promote_threshold NUMERIC(5, 2),
	pilot_share NUMERIC(3, 2) NOT NULL,
	control_group_size INTEGER NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_pilot_configs__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_promotion_pilot_configs__pilot_share_min CHECK (pilot_share >= 0),
	CONSTRAINT ck_promotion_pilot_configs__pilot_share_max CHECK (pilot_share <= 1),
	CONSTRAINT ck_promotion_pilot_configs__control_group_size_min CHECK (control_group_size >= 0),
	CONSTRAINT ck_promotion_pilot_configs__control_group_size_max CHECK (control_group_size <= 999999),
	CONSTRAINT fk_promotion_pilot_configs__promotion_id FOREIGN KEY(tenant_id, promotion_id) REFERENCES promotions (tenant_id, id),
	CONSTRAINT uq_promotion_pilot_configs__promotion_id UNIQUE (tenant_id, promotion_id)
);

ALTER TABLE promotion_pilot_configs ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_pilot_configs FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_pilot_configs
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE promotion_pos_groups (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	pos_group_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_promotion_pos_groups__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_promotion_pos_groups__promotion_id FOREIGN KEY(tenant_id, promotion_id) REFERENCES promotions (tenant_id, id) ON DELETE CASCADE,
	CONSTRAINT fk_promotion_pos_groups__pos_group_id FOREIGN KEY(tenant_id, pos_group_id) REFERENCES pos_groups (tenant_id, id),
	CONSTRAINT uq_promotion_pos_groups__promotion_id_pos_group_id UNIQUE (tenant_id, promotion_id, pos_group_id)
);

CREATE INDEX ix_promotion_pos_groups__pos_group_id ON promotion_pos_groups (tenant_id, pos_group_id);

ALTER TABLE promotion_pos_groups ENABLE ROW LEVEL SECURITY;

ALTER TABLE promotion_pos_groups FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON promotion_pos_groups
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE stakeholder_promotions (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	share_percentage NUMERIC(5, 2) NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	stakeholder_id VARCHAR(36) COLLATE "C" NOT NULL,
	promotion_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_stakeholder_promotions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_stakeholder_promotions__share_percentage_min CHECK (share_percentage >= 0),
	CONSTRAINT ck_stakeholder_promotions__share_percentage_max CHECK (share_percentage <= 100),
	CONSTRAINT fk_stakeholder_promotions__stakeholder_id FOREIGN KEY(tenant_id, stakeholder_id) REFERENCES stakeholders (tenant_id, id),
	CONSTRAINT fk_stakeholder_promotions__promotion_id FOREIGN KEY(tenant_id, promotion_id) REFERENCES promotions (tenant_id, id),
	CONSTRAINT uq_stakeholder_promotions__stakeholder_id_promotion_id UNIQUE (tenant_id, stakeholder_id, promotion_id)
);

CREATE INDEX ix_stakeholder_promotions__promotion_id ON stakeholder_promotions (tenant_id, promotion_id);

ALTER TABLE stakeholder_promotions ENABLE ROW LEVEL SECURITY;

ALTER TABLE stakeholder_promotions FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON stakeholder_promotions
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE template_condition_article_list_items (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	article_number VARCHAR(50) COLLATE "C",
	ean VARCHAR(18) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	condition_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_template_condition_article_list_items__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_condition_article_list_items__condition_id FOREIGN KEY(tenant_id, condition_id) REFERENCES template_conditions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_template_condition_article_list_items__condition_id ON template_condition_article_list_items (tenant_id, condition_id);

ALTER TABLE template_condition_article_list_items ENABLE ROW LEVEL SECURITY;

ALTER TABLE template_condition_article_list_items FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON template_condition_article_list_items
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE template_condition_value_list_items (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	value VARCHAR(255) COLLATE "C" NOT NULL,
	value_category VARCHAR(30) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	condition_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_template_condition_value_list_items__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_condition_value_list_items__condition_id FOREIGN KEY(tenant_id, condition_id) REFERENCES template_conditions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_template_condition_value_list_items__condition_id ON template_condition_value_list_items (tenant_id, condition_id);

ALTER TABLE template_condition_value_list_items ENABLE ROW LEVEL SECURITY;

ALTER TABLE template_condition_value_list_items FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON template_condition_value_list_items
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE template_discount_action_article_list_items (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	article_number VARCHAR(50) COLLATE "C",
	ean VARCHAR(18) COLLATE "C",
	fixed_price NUMERIC(15, 2),
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	action_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_template_discount_action_article_list_items__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_template_discount_action_article_list_items__fixed_price_min CHECK (fixed_price >= 0),
	CONSTRAINT fk_template_discount_action_article_list_items__action_id FOREIGN KEY(tenant_id, action_id) REFERENCES template_discount_actions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_action_article_list_items__action_id ON template_discount_action_article_list_items (tenant_id, action_id);

ALTER TABLE template_discount_action_article_list_items ENABLE ROW LEVEL SECURITY;

ALTER TABLE template_discount_action_article_list_items FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON template_discount_action_article_list_items
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE template_discount_action_bundle_components (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	sequence INTEGER NOT NULL,
	article_number VARCHAR(50) COLLATE "C",
	article_group_key VARCHAR(20) COLLATE "C",
	include_sub_groups BOOLEAN NOT NULL,
	quantity NUMERIC(15, 3) NOT NULL,
	discounted BOOLEAN NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	article_id VARCHAR(36) COLLATE "C",
	article_group_id VARCHAR(36) COLLATE "C",
	action_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_template_discount_action_bundle_components__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_template_discount_action_bundle_components__quantity_min CHECK (quantity >= 0),
	CONSTRAINT fk_template_discount_action_bundle_components__article_id FOREIGN KEY(tenant_id, article_id) REFERENCES articles (tenant_id, id),
	CONSTRAINT fk_template_discount_action_bundle_components__article_group_id FOREIGN KEY(tenant_id, article_group_id) REFERENCES article_groups (tenant_id, id),
	CONSTRAINT fk_template_discount_action_bundle_components__action_id FOREIGN KEY(tenant_id, action_id) REFERENCES template_discount_actions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_action_bundle_components__action_id ON template_discount_action_bundle_components (tenant_id, action_id);

CREATE INDEX ix_template_discount_action_bundle_components__article_group_id ON template_discount_action_bundle_components (tenant_id, article_group_id);

CREATE INDEX ix_template_discount_action_bundle_components__article_id ON template_discount_action_bundle_components (tenant_id, article_id);

ALTER TABLE template_discount_action_bundle_components ENABLE ROW LEVEL SECURITY;

ALTER TABLE template_discount_action_bundle_components FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON template_discount_action_bundle_components
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE template_discount_action_exclusions (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	exclusion_type VARCHAR(30) COLLATE "C" NOT NULL,
	article_number VARCHAR(50) COLLATE "C",
	article_group_key VARCHAR(20) COLLATE "C",
	manufacturer VARCHAR(255) COLLATE "C",
	field_name VARCHAR(100) COLLATE "C",
	value VARCHAR(255) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	article_group_id VARCHAR(36) COLLATE "C",
	action_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_template_discount_action_exclusions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_discount_action_exclusions__article_group_id FOREIGN KEY(tenant_id, article_group_id) REFERENCES article_groups (tenant_id, id),
	CONSTRAINT fk_template_discount_action_exclusions__action_id FOREIGN KEY(tenant_id, action_id) REFERENCES template_discount_actions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_action_exclusions__action_id ON template_discount_action_exclusions (tenant_id, action_id);

CREATE INDEX ix_template_discount_action_exclusions__article_group_id ON template_discount_action_exclusions (tenant_id, article_group_id);

ALTER TABLE template_discount_action_exclusions ENABLE ROW LEVEL SECURITY;

ALTER TABLE template_discount_action_exclusions FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON template_discount_action_exclusions
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE template_discount_action_quantity_tiers (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	sequence INTEGER NOT NULL,
	discount_type VARCHAR(30) COLLATE "C" NOT NULL,
	discount_value NUMERIC(15, 2) NOT NULL,
	min_quantity NUMERIC(15, 3) NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	action_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_template_discount_action_quantity_tiers__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_template_discount_action_quantity_tiers__discount_value_min CHECK (discount_value >= 0),
	CONSTRAINT ck_template_discount_action_quantity_tiers__min_quantity_min CHECK (min_quantity >= 0),
	CONSTRAINT fk_template_discount_action_quantity_tiers__action_id FOREIGN KEY(tenant_id, action_id) REFERENCES template_discount_actions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_action_quantity_tiers__action_id ON template_discount_action_quantity_tiers (tenant_id, action_id);

ALTER TABLE template_discount_action_quantity_tiers ENABLE ROW LEVEL SECURITY;

ALTER TABLE template_discount_action_quantity_tiers FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON template_discount_action_quantity_tiers
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE template_discount_action_scaled_tiers (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	sequence INTEGER NOT NULL,
	discount_type VARCHAR(30) COLLATE "C" NOT NULL,
	discount_value NUMERIC(15, 2) NOT NULL,
	threshold_amount NUMERIC(15, 2) NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	action_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_template_discount_action_scaled_tiers__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_template_discount_action_scaled_tiers__discount_value_min CHECK (discount_value >= 0),
	CONSTRAINT ck_template_discount_action_scaled_tiers__threshold_amount_min CHECK (threshold_amount >= 0),
	CONSTRAINT fk_template_discount_action_scaled_tiers__action_id FOREIGN KEY(tenant_id, action_id) REFERENCES template_discount_actions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_action_scaled_tiers__action_id ON template_discount_action_scaled_tiers (tenant_id, action_id);

ALTER TABLE template_discount_action_scaled_tiers ENABLE ROW LEVEL SECURITY;

ALTER TABLE template_discount_action_scaled_tiers FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON template_discount_action_scaled_tiers
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE action_article_list_items (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	article_number VARCHAR(50) COLLATE "C",
	ean VARCHAR(18) COLLATE "C",
	fixed_price NUMERIC(15, 2),
	action_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_action_article_list_items__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_action_article_list_items__fixed_price_min CHECK (fixed_price >= 0),
	CONSTRAINT fk_action_article_list_items__action_id FOREIGN KEY(tenant_id, action_id) REFERENCES discount_actions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_action_article_list_items__action_id ON action_article_list_items (tenant_id, action_id);

ALTER TABLE action_article_list_items ENABLE ROW LEVEL SECURITY;

ALTER TABLE action_article_list_items FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON action_article_list_items
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE action_exclusions (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	exclusion_type VARCHAR(30) COLLATE "C" NOT NULL,
	article_number VARCHAR(50) COLLATE "C",
	article_group_key VARCHAR(20) COLLATE "C",
	manufacturer VARCHAR(255) COLLATE "C",
	field_name VARCHAR(100) COLLATE "C",
	value VARCHAR(255) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	article_group_id VARCHAR(36) COLLATE "C",
	action_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_action_exclusions__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_action_exclusions__article_group_id FOREIGN KEY(tenant_id, article_group_id) REFERENCES article_groups (tenant_id, id),
	CONSTRAINT fk_action_exclusions__action_id FOREIGN KEY(tenant_id, action_id) REFERENCES discount_actions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_action_exclusions__action_id ON action_exclusions (tenant_id, action_id);

CREATE INDEX ix_action_exclusions__article_group_id ON action_exclusions (tenant_id, article_group_id);

ALTER TABLE action_exclusions ENABLE ROW LEVEL SECURITY;

ALTER TABLE action_exclusions FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON action_exclusions
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE action_quantity_tiers (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	sequence INTEGER NOT NULL,
	discount_type VARCHAR(30) COLLATE "C" NOT NULL,
	discount_value NUMERIC(15, 2) NOT NULL,
	min_quantity NUMERIC(15, 3) NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	action_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_action_quantity_tiers__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_action_quantity_tiers__discount_value_min CHECK (discount_value >= 0),
	CONSTRAINT ck_action_quantity_tiers__min_quantity_min CHECK (min_quantity >= 0),
	CONSTRAINT fk_action_quantity_tiers__action_id FOREIGN KEY(tenant_id, action_id) REFERENCES discount_actions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_action_quantity_tiers__action_id ON action_quantity_tiers (tenant_id, action_id);

ALTER TABLE action_quantity_tiers ENABLE ROW LEVEL SECURITY;

ALTER TABLE action_quantity_tiers FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON action_quantity_tiers
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE action_scaled_tiers (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	sequence INTEGER NOT NULL,
	discount_type VARCHAR(30) COLLATE "C" NOT NULL,
	discount_value NUMERIC(15, 2) NOT NULL,
	threshold_amount NUMERIC(15, 2) NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	action_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_action_scaled_tiers__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_action_scaled_tiers__discount_value_min CHECK (discount_value >= 0),
	CONSTRAINT ck_action_scaled_tiers__threshold_amount_min CHECK (threshold_amount >= 0),
	CONSTRAINT fk_action_scaled_tiers__action_id FOREIGN KEY(tenant_id, action_id) REFERENCES discount_actions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_action_scaled_tiers__action_id ON action_scaled_tiers (tenant_id, action_id);

ALTER TABLE action_scaled_tiers ENABLE ROW LEVEL SECURITY;

ALTER TABLE action_scaled_tiers FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON action_scaled_tiers
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE bundle_components (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	sequence INTEGER NOT NULL,
	article_number VARCHAR(50) COLLATE "C",
	article_group_key VARCHAR(20) COLLATE "C",
	include_sub_groups BOOLEAN NOT NULL,
	quantity NUMERIC(15, 3) NOT NULL,
	discounted BOOLEAN NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	article_id VARCHAR(36) COLLATE "C",
	article_group_id VARCHAR(36) COLLATE "C",
	action_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_bundle_components__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT ck_bundle_components__quantity_min CHECK (quantity >= 0),
	CONSTRAINT fk_bundle_components__article_id FOREIGN KEY(tenant_id, article_id) REFERENCES articles (tenant_id, id),
	CONSTRAINT fk_bundle_components__article_group_id FOREIGN KEY(tenant_id, article_group_id) REFERENCES article_groups (tenant_id, id),
	CONSTRAINT fk_bundle_components__action_id FOREIGN KEY(tenant_id, action_id) REFERENCES discount_actions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_bundle_components__action_id ON bundle_components (tenant_id, action_id);

CREATE INDEX ix_bundle_components__article_group_id ON bundle_components (tenant_id, article_group_id);

CREATE INDEX ix_bundle_components__article_id ON bundle_components (tenant_id, article_id);

ALTER TABLE bundle_components ENABLE ROW LEVEL SECURITY;

ALTER TABLE bundle_components FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON bundle_components
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE condition_article_list_items (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	article_number VARCHAR(50) COLLATE "C",
	ean VARCHAR(18) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	condition_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_condition_article_list_items__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_condition_article_list_items__condition_id FOREIGN KEY(tenant_id, condition_id) REFERENCES conditions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_condition_article_list_items__condition_id ON condition_article_list_items (tenant_id, condition_id);

ALTER TABLE condition_article_list_items ENABLE ROW LEVEL SECURITY;

ALTER TABLE condition_article_list_items FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON condition_article_list_items
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE condition_value_list_items (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	value VARCHAR(255) COLLATE "C" NOT NULL,
	value_category VARCHAR(30) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	condition_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_condition_value_list_items__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_condition_value_list_items__condition_id FOREIGN KEY(tenant_id, condition_id) REFERENCES conditions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_condition_value_list_items__condition_id ON condition_value_list_items (tenant_id, condition_id);

ALTER TABLE condition_value_list_items ENABLE ROW LEVEL SECURITY;

ALTER TABLE condition_value_list_items FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON condition_value_list_items
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE control_pos_groups (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	config_id VARCHAR(36) COLLATE "C" NOT NULL,
	pos_group_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_control_pos_groups__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_control_pos_groups__config_id FOREIGN KEY(tenant_id, config_id) REFERENCES promotion_pilot_configs (tenant_id, id) ON DELETE CASCADE,
	CONSTRAINT fk_control_pos_groups__pos_group_id FOREIGN KEY(tenant_id, pos_group_id) REFERENCES pos_groups (tenant_id, id),
	CONSTRAINT uq_control_pos_groups__config_id_pos_group_id UNIQUE (tenant_id, config_id, pos_group_id)
);

CREATE INDEX ix_control_pos_groups__pos_group_id ON control_pos_groups (tenant_id, pos_group_id);

ALTER TABLE control_pos_groups ENABLE ROW LEVEL SECURITY;

ALTER TABLE control_pos_groups FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON control_pos_groups
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE loyalty_action_article_list_items (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	article_number VARCHAR(50) COLLATE "C",
	ean VARCHAR(18) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	loyalty_action_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_loyalty_action_article_list_items__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_loyalty_action_article_list_items__loyalty_action_id FOREIGN KEY(tenant_id, loyalty_action_id) REFERENCES loyalty_actions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_loyalty_action_article_list_items__loyalty_action_id ON loyalty_action_article_list_items (tenant_id, loyalty_action_id);

ALTER TABLE loyalty_action_article_list_items ENABLE ROW LEVEL SECURITY;

ALTER TABLE loyalty_action_article_list_items FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON loyalty_action_article_list_items
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE pilot_pos_groups (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	config_id VARCHAR(36) COLLATE "C" NOT NULL,
	pos_group_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_pilot_pos_groups__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_pilot_pos_groups__config_id FOREIGN KEY(tenant_id, config_id) REFERENCES promotion_pilot_configs (tenant_id, id) ON DELETE CASCADE,
	CONSTRAINT fk_pilot_pos_groups__pos_group_id FOREIGN KEY(tenant_id, pos_group_id) REFERENCES pos_groups (tenant_id, id),
	CONSTRAINT uq_pilot_pos_groups__config_id_pos_group_id UNIQUE (tenant_id, config_id, pos_group_id)
);

CREATE INDEX ix_pilot_pos_groups__pos_group_id ON pilot_pos_groups (tenant_id, pos_group_id);

ALTER TABLE pilot_pos_groups ENABLE ROW LEVEL SECURITY;

ALTER TABLE pilot_pos_groups FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON pilot_pos_groups
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE template_discount_action_exclusion_article_list_items (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	article_number VARCHAR(50) COLLATE "C",
	ean VARCHAR(18) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	exclusion_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_template_discount_action_exclusion_article_list_items__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_template_discount_action_exclusion_article_list_ite_45e02c64 FOREIGN KEY(tenant_id, exclusion_id) REFERENCES template_discount_action_exclusions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_template_discount_action_exclusion_article_list_ite_6549fca4 ON template_discount_action_exclusion_article_list_items (tenant_id, exclusion_id);

ALTER TABLE template_discount_action_exclusion_article_list_items ENABLE ROW LEVEL SECURITY;

ALTER TABLE template_discount_action_exclusion_article_list_items FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON template_discount_action_exclusion_article_list_items
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');

CREATE TABLE action_exclusion_article_list_items (
	tenant_id VARCHAR(36) COLLATE "C" NOT NULL,
	id VARCHAR(36) COLLATE "C" NOT NULL,
	article_number VARCHAR(50) COLLATE "C",
	ean VARCHAR(18) COLLATE "C",
	created_at TIMESTAMP WITH TIME ZONE NOT NULL,
	created_by VARCHAR(255) COLLATE "C",
	modified_at TIMESTAMP WITH TIME ZONE NOT NULL,
	modified_by VARCHAR(255) COLLATE "C",
	exclusion_id VARCHAR(36) COLLATE "C" NOT NULL,
	version INTEGER DEFAULT '1' NOT NULL,
	CONSTRAINT pk_action_exclusion_article_list_items__key PRIMARY KEY (tenant_id, id),
	CONSTRAINT fk_action_exclusion_article_list_items__exclusion_id FOREIGN KEY(tenant_id, exclusion_id) REFERENCES action_exclusions (tenant_id, id) ON DELETE CASCADE
);

CREATE INDEX ix_action_exclusion_article_list_items__exclusion_id ON action_exclusion_article_list_items (tenant_id, exclusion_id);

ALTER TABLE action_exclusion_article_list_items ENABLE ROW LEVEL SECURITY;

ALTER TABLE action_exclusion_article_list_items FORCE ROW LEVEL SECURITY;

CREATE POLICY tenant ON action_exclusion_article_list_items
	USING (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no')
	WITH CHECK (CASE current_setting('promenade.tenant', true) WHEN tenant_id THEN 'own' WHEN '*' THEN 'any' ELSE 'no' END <> 'no');
